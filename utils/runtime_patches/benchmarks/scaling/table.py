"""The table of speed-ups."""

from .results import KINDS

# x1.859 of 4 and x2.531 of 8 workers inside a process, x3.637 and x5.500 across, on a
# machine with 4 fast and 4 slow cores: the reference figures, which the benchmark was made to explain.
REFERENCE = [(4, 1.859, 3.637), (8, 2.531, 5.500)]


def _number(value, sign=""):
    return "-" if value is None else f"{value:{sign}.2f}"


def lines(results, shares, workers, runtimes):
    """Header and lines as lists of strings. shares: {row: what its workers share}."""
    header = ["row", "shared"]
    for runtime in runtimes:
        header += [f"{runtime}: threads", "tasks", "processes", "ratio", "gap"]
    if len(runtimes) == 2:
        header.append(f"1 thread, {runtimes[1]}/{runtimes[0]}")
    found = []
    for row in results.plan["rows"]:
        line = [row + (" (noisy)" if results.noisy(row) else ""), shares[row]]
        for runtime in runtimes:
            *ups, ratio, gap = results.line(row, workers, runtime)
            line += [_number(value) for value in (*ups, ratio)] + [_number(gap, "+")]
        if len(runtimes) == 2:
            line.append(_number(results.one_worker(row, *runtimes)))
        found.append(line)
    return header, found


def reference_lines():
    """The reference figures, to compare with."""
    return [
        f"reference figures, {workers} workers: x{inside:.3f} as threads of one process, x{across:.3f} as "
        f"processes, ratio {inside / across:.2f}"
        for workers, inside, across in REFERENCE
    ]


def note(workers, kinds=KINDS):
    """What the columns are."""
    return (
        f"{', '.join(kinds)}: the work of {workers} workers over that of one ({workers}.00 is perfect); "
        "ratio: threads / processes; gap: processes - threads"
    )
