"""utils/measure: measures what the documentation shows of results, and saves it."""

import argparse
import subprocess
from pathlib import Path

from ..base.errors import BadUsage, UserError
from ..base.paths import REPO, REPORT
from ..cli import Parser, machine

_SERVER = (
    "benchmark/server/run-benchmark --rounds 14 --seconds 1 --rates 2000"
    " --filter ^(plain|spans|all(-10+)?|loop-(stream|channels))$"
)

# {name of the saved result: the command that measures it}, in the order in which they run.
COMMANDS = {
    "smoke": "utils/run-smoke-bench --samples 20",
    "smoke-stock": "utils/run-smoke-bench stock before --samples 20",
    "instructions": "benchmark/instructions/run-benchmark",
    "allocations": "benchmark/instructions/run-benchmark --allocations",
    "starts": "benchmark/starts/run-benchmark",
    "executor": "benchmark/executor/run-benchmark",
    "server": _SERVER,
    "server-pool": f"{_SERVER} --pool",
    "nio": "benchmark/server/run-benchmark --filter ^nio-(async|schedule) --rounds 5",
    "liveness": "benchmark/liveness/run-benchmark",
    "tracing": "benchmark/tracing/run-benchmark",
    "load": "benchmark/load/run-benchmark",
    "teardown": "benchmark/teardown/run-benchmark",
    "scaling": "benchmark/scaling/run-benchmark",
    "deinit": "benchmark/deinit/reproduce --quick",
}


def parser() -> Parser:
    command = Parser(
        "utils/measure",
        "Runs the benchmarks that the documentation shows, one after the other, and saves the results\n"
        "in benchmark/results. Results of the present state of the series are not measured again.\n"
        "It refuses a checkout with edits that are not in patches/.\n"
        "It takes about an hour; nothing else should run meanwhile. The profile of the server is left\n"
        "out, because it needs perf: benchmark/server/run-benchmark --profile makes it.",
        ["utils/measure vm-2-cores", "utils/measure vm-2-cores smoke executor"],
        workspace=False,
    )
    command.add("machine MACHINE", "the name under which the results are saved", type=machine)
    command.add("names [NAME…]", f"only these of {', '.join(COMMANDS)}")
    command.add("--again", "measure also what is saved of this state")
    command.intermixed = True
    return command


def main(options: argparse.Namespace) -> int:
    from ..base.progress import note
    from ..report import saved
    from ..series import series, unexported
    from ..workspace import provision

    for name in options.names:
        if name not in COMMANDS:
            raise BadUsage(f"nothing is measured by '{name}'", "the names are " + ", ".join(COMMANDS))
    for name in options.names or COMMANDS:
        found = saved.load(options.machine, name)
        if found and found.state and found.state.key == series.load().state and not options.again:
            note(f"==> {name} is saved of this state")
            continue
        unexported.refuse(provision.ready(argparse.Namespace(checkout=None, toolchain=None)))
        note(f"==> {name}: {COMMANDS[name]}")
        _measure(COMMANDS[name].split(), REPORT / "measure" / name)
        for path in saved.save([REPORT / "measure" / name], options.machine):
            print(path.relative_to(REPO))
    note("==> utils/update-docs writes them into the READMEs")
    return 0


def _measure(command: list[str], folder: Path) -> None:
    output = [] if command[0].endswith("reproduce") else ["--output", str(folder)]
    done = subprocess.run([*command, *output], cwd=REPO, stdin=subprocess.DEVNULL)
    # 2 of run-smoke-bench: a row is slower, which is a result. Of the others it is bad usage.
    if done.returncode not in ((0, 2) if command[0].endswith("run-smoke-bench") else (0,)):
        raise UserError(f"{' '.join(command)} failed", "its message is above; the same command goes on from here")
    if not output:
        folder.mkdir(parents=True, exist_ok=True)
        made = REPORT / "deinit" / "quick" / "results.json"
        (folder / "results.json").write_bytes(made.read_bytes())
