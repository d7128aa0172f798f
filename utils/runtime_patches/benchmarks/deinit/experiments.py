"""Every experiment, in order: what is measured, what is fitted, and what it gave on an M1.

The M1's figures are those that the seed of this benchmark printed, for an unoptimized
build.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Inputs:
    """Random points in closed intervals; `name` is that of a file in data/, if it has one."""

    values: tuple
    objects: tuple
    points: int
    name: str | None = None


@dataclass(frozen=True)
class Run:
    """One dataset: the benchmark for all points of the inputs."""

    name: str
    benchmark: str
    inputs: Inputs
    ballast: int = 0

    @property
    def command(self):
        """The line that measures it by hand."""
        i, ballast = self.inputs, f" --ballast={self.ballast}" if self.ballast else ""
        points = (
            f"data/{i.name}.txt"
            if i.name
            else (f"--values={i.values[0]}:{i.values[1]} --objects={i.objects[0]}:{i.objects[1]} --points={i.points}")
        )
        words = [points, self.benchmark] if i.name else [self.benchmark, points]
        return f"./run-benchmark.sh {' '.join(words)}{ballast} > data/{self.name}.txt"


@dataclass(frozen=True)
class Fit:
    """One regression: on `run` (less `diff`), with the M1's formula and R² by phase."""

    run: Run
    params: str
    phases: str = "S,T"
    diff: Run | None = None
    min_values: int | None = None
    m1: dict = field(default_factory=dict)

    @property
    def command(self):
        """The line that fits it by hand."""
        words = ["./regression.py"]
        if self.run.inputs.name:
            words.append(f"data/{self.run.inputs.name}.txt")
        words.append(f"data/{self.run.name}.txt")
        if self.diff:
            words.append(f"--diff data/{self.diff.name}.txt")
        if self.phases != "S,T":
            words.append(f"-y {self.phases}")
        words.append(f"-p {self.params}")
        if self.min_values:
            words.append(f"--min-values={self.min_values}")
        return " ".join(words)


@dataclass(frozen=True)
class Section:
    """A heading, and the fits below it."""

    title: str
    fits: list


_5K = Inputs((0, 200), (1, 5000), 5000, "inputs-5K")
_5K_0 = Inputs((0, 0), (1, 5000), 5000, "inputs-5K-0-values")
_5K_1 = Inputs((1, 1), (1, 5000), 5000, "inputs-5K-1-value")
_OBJECTS = Inputs((1, 1), (100, 50000), 1000)
_BOTH = Inputs((1, 200), (100, 50000), 1000)


def _run(benchmark, inputs=_5K, ballast=0, suffix="5K"):
    middle = f"b{ballast}-" if ballast else ""
    return Run(f"{benchmark}-{middle}{suffix}", benchmark, inputs, ballast)


def _values(benchmark, objects):
    inputs = Inputs((1, 200), (objects, objects), 1000)
    return Run(f"{benchmark}-vs-values-{objects}", benchmark, inputs)


def _objects(benchmark):
    return Run(f"{benchmark}-vs-objects", benchmark, _OBJECTS)


PLAIN_ARRAY, PLAIN_TREE = _run("nonisolated_array"), _run("nonisolated_tree")
NO_HOP_COPY_ARRAY, NO_HOP_COPY_TREE = (_run("isolated_no_hop_copy_array"), _run("isolated_no_hop_copy_tree"))
NO_HOP_RESET_ARRAY, NO_HOP_RESET_TREE = (_run("isolated_no_hop_reset_array"), _run("isolated_no_hop_reset_tree"))
RESET_ARRAY, RESET_TREE = _run("isolated_hop_reset_array"), _run("isolated_hop_reset_tree")
RESET_AGAIN = [_run("isolated_hop_reset_array", suffix=f"5K-{n}") for n in range(2, 6)]
RESET_LAYERS = _run("isolated_hop_reset_tree_interleaved")
RESET_100 = _run("isolated_hop_reset_array", ballast=100)
RESET_V0, RESET_V1 = (
    _run("isolated_hop_reset_array", _5K_0, 5, "v0-5K"),
    _run("isolated_hop_reset_array", _5K_1, 5, "v1-5K"),
)
COPY_ARRAY, COPY_TREE = _run("isolated_hop_copy_array"), _run("isolated_hop_copy_tree")
COPY_LAYERS = _run("isolated_hop_copy_tree_interleaved")
COPY_80, COPY_100 = (_run("isolated_hop_copy_array", ballast=n) for n in (80, 100))
COPY_V0, COPY_V1 = (
    _run("isolated_hop_copy_array", _5K_0, 5, "v0-5K"),
    _run("isolated_hop_copy_array", _5K_1, 5, "v1-5K"),
)
ASYNC_TREE_VALUES = [_values("async_tree", n) for n in (100, 1000, 5000)]
ASYNC_ARRAY_VALUES = [_values("async_array", n) for n in (100, 1000, 5000)]
ASYNC_TREE, ASYNC_ARRAY = _objects("async_tree"), _objects("async_array")
ASYNC_COPY_ARRAY = Run("async_copy_array", "async_copy_array", _BOTH)
ASYNC_COPY_TREE = Run("async_copy_tree", "async_copy_tree", _BOTH)
RESET_OBJECTS = _objects("isolated_hop_reset_array")
TASK_ARRAY, TASK_TREE = _objects("task_in_deinit_array"), _objects("task_in_deinit_tree")
# 170 ns a value before the series: fewer points do.
TASK_COPY = Run("task_in_deinit_array-1K", "task_in_deinit_array", Inputs((0, 200), (1, 5000), 1000, "inputs-1K"))

SECTIONS = [
    Section(
        "0. Baseline",
        [Fit(PLAIN_ARRAY, "o", "T", m1={"T": ("64⋅o", 0.9950)}), Fit(PLAIN_TREE, "o", "T", m1={"T": ("63⋅o", 0.6515)})],
    ),
    Section(
        "1. Fast path - copy",
        [
            Fit(NO_HOP_COPY_ARRAY, "o", "T", PLAIN_ARRAY, m1={"T": ("16⋅o", 0.8352)}),
            Fit(NO_HOP_COPY_TREE, "o", "T", PLAIN_TREE, m1={"T": ("18⋅o", 0.1261)}),
        ],
    ),
    Section(
        "2. Fast path - reset",
        [
            Fit(NO_HOP_RESET_ARRAY, "o", "T", PLAIN_ARRAY, m1={"T": ("36⋅o", 0.9446)}),
            Fit(NO_HOP_RESET_TREE, "o", "T", PLAIN_TREE, m1={"T": ("41⋅o", 0.4243)}),
        ],
    ),
    Section(
        "3.1. Slow path - reset - array",
        [
            Fit(RESET_ARRAY, "o", m1={"S": ("117⋅o", 0.5794), "T": ("195⋅o", 0.7279)}),
            *(
                Fit(run, "o", "S", m1={"S": m1})
                for run, m1 in zip(
                    RESET_AGAIN, [("108⋅o", 0.6572), ("123⋅o", 0.6173), ("124⋅o", 0.5400), ("107⋅o", 0.5702)]
                )
            ),
            *(
                Fit(run, "o", "T", PLAIN_ARRAY, m1={"T": m1})
                for run, m1 in zip(
                    [RESET_ARRAY, *RESET_AGAIN],
                    [("130⋅o", 0.5423), ("125⋅o", 0.6572), ("160⋅o", 0.6471), ("140⋅o", 0.4657), ("154⋅o", 0.5977)],
                )
            ),
        ],
    ),
    Section(
        "3.2. Slow path - reset - tree",
        [
            Fit(RESET_TREE, "o,1", m1={"S": ("0⋅o + 2159", 0.0112), "T": ("115⋅o + 11683", 0.8585)}),
            Fit(RESET_TREE, "o", "T", NO_HOP_RESET_TREE, m1={"T": ("14⋅o", 0.0287)}),
            Fit(RESET_TREE, "o,1", "T", NO_HOP_RESET_TREE, m1={"T": ("10⋅o + 14482", 0.0396)}),
            Fit(RESET_LAYERS, "o", m1={"S": ("1⋅o", -0.4648), "T": ("169⋅o", 0.8082)}),
            Fit(RESET_LAYERS, "o,1", m1={"S": ("-0⋅o + 1745", 0.0001), "T": ("163⋅o + 18001", 0.8093)}),
        ],
    ),
    Section(
        "4.1. Slow path - copy - array",
        [
            Fit(COPY_ARRAY, "vo,o", m1={"S": ("32⋅v⋅o + 486⋅o", 0.9680), "T": ("32⋅v⋅o + 492⋅o", 0.9677)}),
            Fit(COPY_80, "vo,o", min_values=180, m1={"S": ("32⋅v⋅o + 486⋅o", 0.9680), "T": ("32⋅v⋅o + 492⋅o", 0.9677)}),
            Fit(
                COPY_100,
                "vo,o",
                min_values=180,
                m1={"S": ("21⋅v⋅o + 2000⋅o", 0.9905), "T": ("17⋅v⋅o + 4259⋅o", 0.9909)},
            ),
            Fit(COPY_100, "vo,o", m1={"S": ("31⋅v⋅o + 38⋅o", 0.9948), "T": ("19⋅v⋅o + 3987⋅o", 0.9947)}),
            Fit(RESET_100, "vo,o", m1={"S": ("0⋅v⋅o + 62⋅o", 0.9905), "T": ("0⋅v⋅o + 3901⋅o", 0.9994)}),
            Fit(COPY_100, "vo,o", diff=RESET_100, m1={"S": ("31⋅v⋅o - 23⋅o", 0.9947), "T": ("19⋅v⋅o + 85⋅o", 0.9765)}),
            Fit(COPY_100, "vo", diff=RESET_100, m1={"S": ("31⋅v⋅o", 0.9946), "T": ("20⋅v⋅o", 0.9757)}),
            Fit(COPY_V0, "o", diff=RESET_V0, m1={"S": ("3⋅o", 0.0056), "T": ("1⋅o", 0.0000)}),
            Fit(COPY_V1, "o", diff=RESET_V1, m1={"S": ("97⋅o", 0.5710), "T": ("31⋅o", 0.1053)}),
        ],
    ),
    Section("4.2. Slow path - copy - tree", [Fit(COPY_TREE, "o,1"), Fit(COPY_LAYERS, "vo,o")]),
    Section(
        "5. Async deinit, number of task-locals",
        [
            Fit(
                ASYNC_TREE_VALUES[0],
                "v,1",
                "S,E,T",
                m1={"S": ("0⋅v - 4884", 0.0), "E": ("-24⋅v + 54001", 0.0209), "T": ("-24⋅v + 49117", 0.0224)},
            ),
            Fit(
                ASYNC_TREE_VALUES[1],
                "v,1",
                "S,E,T",
                m1={"S": ("-4⋅v - 58394", 0.0026), "E": ("-8⋅v + 403978", 0.0002), "T": ("-11⋅v + 345584", 0.0004)},
            ),
            Fit(
                ASYNC_TREE_VALUES[2],
                "v,1",
                "S,E,T",
                m1={"S": ("3⋅v - 307343", 0.0002), "E": ("-0⋅v + 1934989", 0.0), "T": ("3⋅v + 1627647", 0.0)},
            ),
            Fit(
                ASYNC_ARRAY_VALUES[0],
                "v,1",
                "S,E,T",
                m1={"S": ("2⋅v + 14124", 0.0003), "E": ("7⋅v + 30009", 0.0027), "T": ("10⋅v + 44133", 0.0027)},
            ),
            Fit(ASYNC_ARRAY_VALUES[1], "v,1", "S,E,T"),
            Fit(ASYNC_ARRAY_VALUES[2], "v,1", "S,E,T"),
        ],
    ),
    Section(
        "6. Async deinit, number of objects",
        [
            Fit(
                ASYNC_TREE,
                "o,1",
                "S,E,T",
                m1={"S": ("-62⋅o + 1320", 0.9964), "E": ("502⋅o - 684562", 0.9848), "T": ("440⋅o - 683242", 0.9805)},
            ),
            Fit(
                ASYNC_ARRAY,
                "o,1",
                "S,E,T",
                m1={"S": ("342⋅o - 75775", 0.8212), "E": ("85⋅o - 94431", 0.9329), "T": ("427⋅o - 170207", 0.8768)},
            ),
        ],
    ),
    Section(
        "7. Copying task-locals in async deinit - array",
        [
            Fit(
                ASYNC_COPY_ARRAY,
                "vo,o",
                "S,E,T",
                m1={"S": ("25⋅v⋅o + 170⋅o", 0.9952), "E": ("0⋅v⋅o - 80⋅o", 0.9667), "T": ("25⋅v⋅o + 89⋅o", 0.9951)},
            ),
            Fit(ASYNC_COPY_ARRAY, "vo", m1={"S": ("26⋅v⋅o", 0.9933), "T": ("26⋅v⋅o", 0.9946)}),
        ],
    ),
    Section(
        "8. Copying task-locals in async deinit - tree",
        [
            Fit(ASYNC_COPY_TREE, "vo,v,o,1", "S", m1={"S": ("no model", 0.1265)}),
            Fit(ASYNC_COPY_TREE, "vo", "T", m1={"T": ("39⋅v⋅o", 0.9981)}),
        ],
    ),
    Section(
        "9. Is it linear up to 50,000 objects?",
        [
            Fit(RESET_OBJECTS, "o2,o", "T"),
            Fit(ASYNC_ARRAY, "o2,o", "T"),
            Fit(ASYNC_TREE, "o2,o", "T"),
            Fit(ASYNC_COPY_ARRAY, "vo2,vo,o", "T"),
        ],
    ),
    Section(
        "10. Task {} in a deinit, what is written today",
        [Fit(TASK_ARRAY, "o"), Fit(TASK_TREE, "o"), Fit(TASK_COPY, "vo,o")],
    ),
]


def runs():
    """All datasets that the fits need, each once, in order."""
    found = {}
    for section in SECTIONS:
        for fit in section.fits:
            for run in (fit.diff, fit.run):
                if run:
                    found.setdefault(run.name, run)
    return list(found.values())
