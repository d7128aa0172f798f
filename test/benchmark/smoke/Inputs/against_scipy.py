#!/usr/bin/env python3
"""against_scipy.py (UTILS on PYTHONPATH): compares the rank test and its adjustment with scipy's."""

import random

from runtime_patches.results import verdicts
from scipy import stats

chance = random.Random(3)
ps = []
for trial in range(300):
    one = [chance.randrange(40) / 4 for _ in range(chance.randrange(2, 40))]
    other = [chance.randrange(40) / 4 + trial % 3 for _ in range(chance.randrange(2, 80))]
    ps.append(verdicts.rank_test(one, other))
    wanted = stats.mannwhitneyu(one, other, method="asymptotic").pvalue
    assert abs(ps[-1] - wanted) <= 1e-9 * wanted, (one, other, ps[-1], wanted)
for mine, wanted in zip(verdicts.adjust(ps), stats.false_discovery_control(ps)):
    assert abs(mine - wanted) <= 1e-12
assert verdicts.rank_test([1, 1, 1], [1, 1]) == 1.0
for n in range(verdicts.FEWEST, 30):
    apart = stats.mannwhitneyu(range(n), range(100, 100 + 2 * n), method="exact").pvalue
    assert verdicts.rank_test(range(n), range(100, 100 + 2 * n)) >= apart
print("the same as scipy")
