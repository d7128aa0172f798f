"""run-benchmark.sh: measures one benchmark for all points of an inputs file."""

import difflib
import os
import sys

from harness import cli
from runtime_patches import runtimes
from runtime_patches.errors import UserError, run_main

from . import dataset, driver, memory, points

_USAGE = "Usage: deinit-benchmark BENCHMARK_NAME INPUTS_FILE [--ballast=N]"
_HELP = f"""{_USAGE}

Measures a benchmark for each point of INPUTS_FILE (made by gen-points.py), and prints
for each how long the release blocked its thread, and how long it took until the last
deinit body had ended. BENCHMARK_NAME and INPUTS_FILE can change places.

options:
  --ballast=N          units of work (about 40 ns) in each deinit body (default: 0)
  --runtime=NAME       the runtime to measure: stock, before, after, upto:PATCH (default: after)
  --onone              measure the unoptimized build of the benchmark
  --timeout=SECONDS    for one point (default: 60)
  --retry-ms=N         measure a point again, for at most N ms, while other programs keep its
                       threads waiting for a core; the least disturbed attempt counts
                       (default: 100)
  --list               print all benchmarks
  --checkout=DIR, --toolchain=DIR
                       the workspace to use in place of the distribution's packages
  -h, --help           this text

In place of INPUTS_FILE, random points; the output then holds them, too:
  --values=MIN:MAX     number of task-local values (default: 0:200)
  --objects=MIN:MAX    number of objects (default: 1:5000)
  --points=N           number of points (default: 1000)
  --seed=N             makes other points of the same ranges (default: 1)

examples:
  ./run-benchmark.sh isolated_hop_copy_array data/inputs-5K.txt --ballast=80
  ./run-benchmark.sh async_tree --values=1:200 --objects=100:100 --points=1000

exit status: 0 done, 1 an error, 2 bad usage
"""
_VALUED = {"--ballast": "0", "--runtime": "after", "--timeout": "60", "--retry-ms": "100", "--values": None,
           "--objects": None, "--points": None, "--seed": None, "--checkout": None,
           "--toolchain": None}
_FLAGS = ("--onone", "--list", "--help", "-h")


def _parse(arguments):
    options, positional = dict(_VALUED), []
    queue = list(arguments)
    while queue:
        word = queue.pop(0)
        name, equals, value = word.partition("=")
        if name in _VALUED:
            if not equals:
                if not queue:
                    raise UserError(f"{name} needs a value", "run-benchmark.sh --help", 2)
                value = queue.pop(0)
            options[name] = value
        elif word in _FLAGS:
            options[word] = True
        elif word.startswith("-"):
            close = difflib.get_close_matches(name, [*_VALUED, *_FLAGS], 1)
            raise UserError(f"unknown option '{name}'",
                            f"did you mean {close[0]}?" if close else "run-benchmark.sh --help", 2)
        else:
            positional.append(word)
    return options, positional


def _split(positional, generated):
    """(benchmark, inputs file or None), which can come in either order."""
    needed = 1 if generated else 2
    known = [word for word in positional if word in driver.BENCHMARKS]
    others = [word for word in positional if word not in driver.BENCHMARKS]
    if generated and others and known:
        raise UserError(f"both an inputs file ({others[0]}) and {generated[0]}",
                        "give an inputs file, or --values, --objects and --points")
    if len(positional) > needed:
        raise UserError(f"'{positional[needed]}' is one argument too many", "run-benchmark.sh --help", 2)
    if not known:
        names = [word for word in others if "/" not in word and not os.path.exists(word)]
        if not names:
            raise UserError("no benchmark is named", "run-benchmark.sh --list prints all", 2)
        close = difflib.get_close_matches(names[0], driver.BENCHMARKS, 1, 0.5)
        raise UserError(f"there is no benchmark '{names[0]}'",
                        (f"did you mean {close[0]}? " if close else "")
                        + "run-benchmark.sh --list prints all")
    if len(positional) < needed:
        raise UserError("no inputs file is named",
                        "./gen-points.py 1000 > data/inputs-1K.txt makes one; or give "
                        "--values, --objects and --points", 2)
    return known[0], others[0] if others else None


def _generate(options):
    """Random points as a file in the build folder, made once; returns it and the
    options that describe it."""
    seed = cli.integer(options["--seed"] or "1", "--seed")
    values, objects, count = points.parse(options["--values"] or "0:200",
                                          options["--objects"] or "1:5000",
                                          options["--points"] or "1000")
    described = (f"--values={values[0]}:{values[1]} --objects={objects[0]}:{objects[1]} "
                 f"--points={count}" + (f" --seed={seed}" if options["--seed"] else ""))
    path = driver.BUILD / "inputs" / (f"v{values[0]}-{values[1]}_o{objects[0]}-{objects[1]}"
                                      f"_p{count}_s{seed}.txt")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f"{path.name}.{os.getpid()}")
        partial.write_text("\n".join(points.lines(values, objects, count, seed)) + "\n")
        partial.rename(path)
    return str(path), described


def _check_points(benchmark, inputs):
    values = max(inputs.values)
    if values > 10_000:
        raise UserError(f"{inputs.path}: {values} task-locals at once do not fit a thread's stack",
                        "give at most 10000")
    largest = max(zip(inputs.values, inputs.objects),
                  key=lambda point: memory.for_point(benchmark, *point))
    memory.require(memory.for_point(benchmark, *largest),
                   f"{benchmark} with {largest[0]} values and {largest[1]:,} objects",
                   "take fewer objects or values")


def main():
    options, positional = _parse(sys.argv[1:])
    if options.get("--help") or options.get("-h"):
        print(_HELP, end="")
        return
    if options.get("--list"):
        for name in driver.BENCHMARKS:
            print(name)
        return
    generated = [name for name in ("--values", "--objects", "--points", "--seed")
                 if options[name] is not None]
    benchmark, inputs = _split(positional, generated)
    ballast = cli.integer(options["--ballast"], "--ballast")
    timeout = cli.integer(options["--timeout"], "--timeout", 1)
    retry_ms = cli.integer(options["--retry-ms"], "--retry-ms")
    runtime = options["--runtime"]
    runtimes.check_name(runtime)

    label_inputs = inputs
    if inputs is None:
        inputs, label_inputs = _generate(options)
    _check_points(benchmark, dataset.read_inputs(inputs))

    # What is not said is the default: the line stays comparable between users.
    extra = (f" --runtime={runtime}" if runtime != "after" else "") + (
        " --onone" if options.get("--onone") else "")
    workspace = [f"{name}={options[name]}" for name in ("--checkout", "--toolchain") if options[name]]
    program = driver.build(not options.get("--onone"), workspace)
    argv = driver.command(program, runtime, benchmark, inputs, ballast=ballast, timeout=timeout,
                          retry_ms=retry_ms, label=f"{benchmark} {label_inputs} --ballast={ballast}{extra}",
                          with_inputs=bool(generated), workspace=workspace)
    sys.stdout.flush()
    os.execv(argv[0], argv)


run_main(main)
