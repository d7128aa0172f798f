"""benchmark/deinit/run-benchmark.sh: measures one benchmark for all points of an inputs file."""

from __future__ import annotations

import os
from argparse import Namespace

from ...base import memory
from ...base.errors import BadUsage, UserError
from ...base.text import nearest
from ...cli import Parser, integer, ready, span
from . import driver, points
from .dataset import Inputs

# What stands for an inputs file.
_GENERATED = ("values", "objects", "points", "seed")


class _Parser(Parser):
    def format_help(self) -> str:
        return super().format_help().replace("usage: ", "Usage: ", 1)


def parser() -> _Parser:
    command = _Parser(
        "run-benchmark.sh",
        "Measures a benchmark for each point of INPUTS_FILE (made by gen-points.py), and prints for "
        "each how\nlong the release blocked its thread, and how long it took until the last deinit body had ended.\n"
        "BENCHMARK_NAME and INPUTS_FILE can change places.",
        [
            "./run-benchmark.sh isolated_hop_copy_array data/inputs-5K.txt --ballast=80",
            "./run-benchmark.sh async_tree --values=1:200 --objects=100:100 --points=1000",
        ],
    )
    command.usage, command.intermixed = "deinit-benchmark BENCHMARK_NAME INPUTS_FILE [--ballast=N]", True
    command.add("words BENCHMARK_NAME INPUTS_FILE", complete=lambda: driver.BENCHMARKS, nargs="*")
    command.add("--ballast N", "units of work (about 40 ns) in each deinit body", type=integer(), default="0")
    command.add_runtimes("--runtime NAME", "the runtime to measure: stock, before, after, upto:PATCH", default="after")
    command.add("--onone", "measure the unoptimized build of the benchmark")
    command.add("--timeout SECONDS", "how long a point may take", type=integer(1), default="60")
    what = (
        "measure a point again, for at most N ms, "
        "while other programs keep its threads waiting for a core; the least disturbed attempt counts"
    )
    command.add("--retry-ms N", what, type=integer(), default="100")
    command.add("--list", "print all benchmarks")
    group = command.add_argument_group("instead of INPUTS_FILE, random points; the output then holds them, too")
    command.add("--values MIN:MAX", "number of task-local values (default: 0:200)", group=group, type=span())
    command.add("--objects MIN:MAX", "number of objects (default: 1:5000)", group=group, type=span(1))
    command.add("--points N", "number of points (default: 1000)", group=group, type=integer(1))
    command.add("--seed N", "makes other points of the same ranges (default: 1)", group=group, type=integer())
    return command


def split(words: list[str], generated: list[str]) -> tuple[str, str | None]:
    """(benchmark, inputs file or None), which can come in either order. generated: the options that stand for an
    inputs file."""
    needed = 1 if generated else 2
    known = [word for word in words if word in driver.BENCHMARKS]
    others = [word for word in words if word not in driver.BENCHMARKS]
    if generated and others and known:
        what = f"both an inputs file ({others[0]}) and --{generated[0]}"
        raise BadUsage(what, "give an inputs file, or --values, --objects and --points")
    if len(words) > needed:
        raise BadUsage(f"'{words[needed]}' is one argument too many", "run-benchmark.sh --help")
    if not known:
        names = [word for word in others if "/" not in word and not os.path.exists(word)]
        if not names:
            raise BadUsage("no benchmark is named", "run-benchmark.sh --list prints all")
        hint = f"{nearest(names[0], driver.BENCHMARKS)}run-benchmark.sh --list prints all"
        raise BadUsage(f"there is no benchmark '{names[0]}'", hint)
    if len(words) < needed:
        hint = "./gen-points.py 1000 > data/inputs-1K.txt makes one; or give --values, --objects and --points"
        raise BadUsage("no inputs file is named", hint)
    return known[0], others[0] if others else None


def _generate(options: Namespace) -> tuple[str, str]:
    """Random points as a file in the build folder, made once; returns it and the options that describe it."""
    values, objects, count = options.values or (0, 200), options.objects or (1, 5000), options.points or 1000
    seed = 1 if options.seed is None else options.seed
    points.check(values, objects, count)
    named = f" --seed={seed}" if options.seed is not None else ""
    described = f"--values={values[0]}:{values[1]} --objects={objects[0]}:{objects[1]} --points={count}{named}"
    path = driver.HOME / "inputs" / f"v{values[0]}-{values[1]}_o{objects[0]}-{objects[1]}_p{count}_s{seed}.txt"
    points.ensure(path, values, objects, count, seed)
    return str(path), described


def _check_points(benchmark: str, inputs: Inputs) -> None:
    if (most := max(inputs.values)) > 10_000:
        what = f"{inputs.path}: {most} task-locals at once do not fit a thread's stack"
        raise UserError(what, "give at most 10000")
    each = ((points.for_point(benchmark, *point), *point) for point in zip(inputs.values, inputs.objects))
    needed, values, objects = max(each)
    what = f"{benchmark} with {values} values and {objects:,} objects"
    memory.require(needed, what, "take fewer objects or values")


def main(options: Namespace) -> None:
    from ...workspace import sandbox
    from . import dataset

    if options.list:
        print("\n".join(driver.BENCHMARKS))
        return
    generated = [name for name in _GENERATED if getattr(options, name) is not None]
    benchmark, inputs = split(options.words, generated)
    shown = inputs
    if inputs is None:
        inputs, shown = _generate(options)
    _check_points(benchmark, dataset.read_inputs(inputs))
    # An option that is not given is left out: the line stays comparable between users.
    extra = f" --runtime={options.runtime}" if options.runtime.name != "after" else ""
    label = f"{benchmark} {shown} --ballast={options.ballast}{extra}" + " --onone" * options.onone
    ws = ready(options, options.runtime)
    program = driver.build(ws, not options.onone)
    given = {name: getattr(options, name) for name in ("ballast", "runtime", "timeout", "retry_ms")}
    argv = driver.command(program, benchmark, inputs, label=label, **given) + ["--with-inputs"] * bool(generated)
    cwd, env = os.getcwd(), ws.environment(options.runtime.environment(ws))
    binds = ws.binds([cwd, os.path.dirname(os.path.abspath(inputs))])
    sandbox.become(ws.root, argv, binds=binds, cwd=cwd, env=env)
