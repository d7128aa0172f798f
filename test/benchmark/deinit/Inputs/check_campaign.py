#!/usr/bin/env python3
"""check_campaign.py FOLDER RUNTIME [OPTION…]: measurements resume, and only whole files count."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from runtime_patches.benchmarks.deinit import campaign, dataset
from runtime_patches.benchmarks.deinit.experiments import load
from runtime_patches.cli import runtime as parse
from workspace_of import workspace

folder, runtime, *options = sys.argv[1:]
ws = workspace(options)

TINY = campaign.Scale("tiny", thin=1000, least=5, objects=50, rounds=(3, 3), seconds=0, retry_ms=0)
RUNS = load()[0]
RUN, COPYING = RUNS["isolated_hop_reset_array-5K"], RUNS["isolated_hop_copy_array-5K"]
LONG = RUNS["isolated_hop_reset_array-b100-5K"]


def new() -> campaign.Campaign:
    return campaign.Campaign(ws, Path(folder), TINY, [parse("stock"), parse(runtime)])


def measure(measured: Any, run: Any) -> Any:
    for number, each in measured.rounds([run]):
        measured.measure(number, each)
    measured.merge([run])


def raw_files(measured: Any) -> Any:
    return {path.name: path.stat().st_mtime_ns for path in measured.raw.iterdir()}


if "interrupted" in os.environ:
    # A long measurement, for the signal below.
    slow = campaign.Scale("slow", thin=1, least=500, objects=5000, rounds=(1, 1), seconds=0, retry_ms=0)
    campaign.Campaign(ws, Path(folder), slow, [parse("stock")]).measure(1, LONG)
    sys.exit("was not interrupted")

measured = new()
measure(measured, RUN)
first = raw_files(measured)
assert len(first) == 6, first
for name in measured.names:
    loaded = measured.load(RUN, name)
    assert loaded
    points, data = loaded
    rounds = [dataset.read_dataset(measured._raw_path(RUN, name, n)) for n in (1, 2, 3)]
    assert data.total[0] == sorted(r.total[0] for r in rounds)[1], "the median"
    assert len(data) == 5 and max(points.objects) <= 50

# What is whole is kept; what is cut off, damaged or of another library is measured again.
measure(measured, RUN)
assert raw_files(measured) == first
names = sorted(first)
cut = measured.raw / names[0]
cut.write_text("".join(cut.read_text().splitlines(True)[:-1]))
damaged = measured.raw / names[1]
damaged.write_text(damaged.read_text().replace("\t", "\tx", 1))
foreign = measured.raw / names[2]
foreign.write_text(foreign.read_text().replace("key=", "key=0", 1))
measure(measured, RUN)
second = raw_files(measured)
assert all(second[name] != first[name] for name in names[:3]), "measured again"
assert all(second[name] == first[name] for name in names[3:]), "kept"

# As many rounds as take the seconds, an odd number of them, within the bounds.
two = dataset.Dataset("", "", [1, 1], [10**9, 10**9], inputs=None)
for seconds, count in ((0, 3), (7, 3), (8, 3), (10, 5), (13, 5), (100, 9)):
    scale = campaign.Scale("", thin=1, least=1, objects=1, rounds=(3, 9), seconds=seconds, retry_ms=0)
    assert scale.rounds_of(two) == count, (seconds, scale.rounds_of(two))

# A runtime that lacks the benchmark has no dataset, and that is no error.
measure(measured, COPYING)
assert measured.load(COPYING, "stock") is None
assert not list(measured.raw.glob("*.partial"))

# An interrupted measurement leaves no child and no file that counts.
before = raw_files(measured)
# A shell starts what it puts into the background with SIGINT ignored.
child = subprocess.Popen(
    [sys.executable, __file__, folder, runtime, *options],
    env={**os.environ, "interrupted": "1"},
    stderr=subprocess.DEVNULL,
    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
)
partial = measured.raw / f"{LONG.name}.stock.1.partial"
while not (partial.exists() and partial.stat().st_size > 100):
    assert child.poll() is None, "ended early"
    time.sleep(0.01)
child.send_signal(signal.SIGINT)
child.wait(20)
assert raw_files(measured) == before
for entry in Path("/proc").glob("[0-9]*/cmdline"):
    try:
        assert str(partial.stem) not in entry.read_text(), entry
    except OSError:
        pass
print("resumes")
