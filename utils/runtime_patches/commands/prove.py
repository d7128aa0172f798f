"""utils/prove: runs the suites that prove the series, and keeps a record of each."""

import argparse

from ..base.errors import BadUsage
from ..cli import Parser, machine


def parser() -> Parser:
    command = Parser(
        "utils/prove",
        "Runs the suites that prove the series, one after the other, and keeps a record of each in\n"
        "benchmark/results. A suite that has passed at the present state of the series is not run\n"
        "again. It refuses a checkout with edits that are not in patches/. After each one it updates\n"
        "docs/proofs.md, which shows the records. All suites together take about two hours.",
        ["utils/prove vm-2-cores", "utils/prove vm-2-cores asan tsan"],
        workspace=False,
        status="0 all have passed, 1 one has failed, or an error, 2 bad usage",
    )
    command.add("machine MACHINE", "the name under which the records are saved", type=machine)
    command.add("names [NAME…]", "only these suites, by the names in docs/proofs.md")
    command.add("--again", "run also what has passed at this state")
    command.intermixed = True
    return command


def main(options: argparse.Namespace) -> int:
    from .. import documentation
    from ..base.progress import note
    from ..proofs import suites
    from ..series import series, unexported
    from ..workspace import provision

    for name in options.names:
        if name not in suites.SUITES:
            raise BadUsage(f"no suite '{name}'", "the suites are " + ", ".join(suites.SUITES))
    failed = 0
    for name in options.names or suites.SUITES:
        found = suites.load(options.machine).find(name)
        if found and not found.status and found.state.key == series.load().state and not options.again:
            note(f"==> {name} has passed at this state")
            continue
        unexported.refuse(provision.ready(argparse.Namespace(checkout=None, toolchain=None)))
        note(f"==> {name}: {suites.SUITES[name][0]}")
        proof = suites.run(name)
        suites.save(options.machine, proof)
        documentation.update()  # the next suite may test that docs/proofs.md is current
        failed += bool(proof.status)
    return 1 if failed else 0
