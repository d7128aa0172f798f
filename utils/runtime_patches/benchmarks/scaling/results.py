"""What the samples say: speed-up, ratio and gap of each row."""

import statistics

KINDS = ("threads", "tasks", "processes")


class Results:
    """samples: dicts with row, kind, workers, runtime, round, rate and share."""

    def __init__(self, plan, samples):
        self.plan = plan
        self.rates, self.shares = {}, {}
        for sample in samples:
            key = (sample["row"], sample["kind"], sample["workers"], sample["runtime"])
            self.rates.setdefault(key, {})[sample["round"]] = sample["rate"]
            self.shares.setdefault(key, []).append(sample["share"])

    def speed_up(self, row, kind, workers, runtime):
        """How many times the work of one worker `workers` of them do: the median over the
        rounds, each divided by the same round. None if it was not measured."""
        many = self.rates.get((row, kind, workers, runtime), {})
        one = self.rates.get((row, kind, 1, runtime), {})
        found = [many[number] / one[number] for number in many if one.get(number)]
        return statistics.median(found) if found else None

    def one_worker(self, row, old, new):
        """The rate of one thread on `new` over that on `old`."""
        before = self.rates.get((row, "threads", 1, old), {})
        after = self.rates.get((row, "threads", 1, new), {})
        found = [after[number] / before[number] for number in after if before.get(number)]
        return statistics.median(found) if found else None

    def noisy(self, row):
        """Whether other programs disturbed half or more of the samples that a median in this
        row is made of, and no attempt was better."""
        return any(
            statistics.median(shares) > self.plan["quiet"] for (name, *_), shares in self.shares.items() if name == row
        )

    def line(self, row, workers, runtime):
        """(threads, tasks, processes, threads / processes, processes - threads)."""
        ups = [self.speed_up(row, kind, workers, runtime) for kind in KINDS]
        threads, _, processes = ups
        if threads is None or processes is None:
            return (*ups, None, None)
        return (*ups, threads / processes, processes - threads)
