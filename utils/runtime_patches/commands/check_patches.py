"""utils/check-patches: checks the rules of the series."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..base.errors import BadUsage, UserError
from ..base.files import remove
from ..base.text import plural
from ..cli import Parser, ensure, ready
from ..runtimes import configurations
from ..runtimes.runtime import Runtime, parse, upto
from ..workspace.find import Workspace


def parser() -> Parser:
    command = Parser(
        "utils/check-patches",
        "Checks the rules of the series: the order file and the folder agree, headers are complete,\n"
        "tests name the patches that they need, and each patch applies at its exact lines.",
        [
            "utils/check-patches",
            "utils/check-patches --headers",
            "utils/check-patches --build",
            "utils/check-patches --configurations",
            "utils/check-patches --configurations task-to-thread 32-bit",
        ],
        status="0 no fault, 1 a fault or an error, 2 bad usage",
    )
    command.add("--headers", "check the names and headers only; Swift's sources are not needed")
    command.add("--build", "also build after each patch and run the tests it names (half an hour at most on two cores)")
    command.add(
        "--configurations [NAME…]",
        "also compile (not link, not run) what the series touches in the runtime's other configurations, or "
        "in these: " + ", ".join(configurations.CONFIGURATIONS),
        complete=lambda: list(configurations.CONFIGURATIONS),
    )
    return command


def main(options: Namespace) -> None:
    from ..series import checks, dispatch, series

    if options.headers and (options.build or options.configurations is not None):
        raise BadUsage("--headers needs no sources, --build and --configurations do", "leave --headers out")
    for name in options.configurations or ():
        if name not in configurations.CONFIGURATIONS:
            known = ", ".join(configurations.CONFIGURATIONS)
            raise BadUsage(f"no configuration '{name}'", f"configurations are {known}")
    faults = [(f"patches/{file}", fault) for file, fault in checks.headers()] + checks.tests()
    faults += [(f"patches/dispatch/{file}", fault) for file, fault in checks.headers(dispatch.load())]
    if not faults and not options.headers:
        ws = ready(options)
        faults = [(f"patches/{file}", fault) for file, fault in checks.applies(ws.sources)]
        faults += [(f"patches/dispatch/{file}", fault) for file, fault in dispatch.applies(ws)]
    for file, fault in faults:
        print(f"{file}: {fault}")
    if faults:
        what = f"{plural(len(faults), 'fault')} in the series, the first: {': '.join(faults[0])}"
        raise UserError(what, "patches/README.md has the rules of the series")
    print(f"{len(series.load())} patches, no fault")
    print(f"{len(dispatch.load())} of libdispatch, no fault")
    if options.build:
        _build_each(ws)
    if options.configurations is not None:
        ensure(ws, parse("after"))
        show(configurations.check(ws, options.configurations or configurations.CONFIGURATIONS))


def _build_each(ws: Workspace) -> None:
    """Builds after each patch, and runs its tests and guards."""
    from ..series import series
    from ..testing import lit

    patches, failed = series.load(), []
    last: Runtime | None = None
    for number, patch in enumerate(patches, 1):
        runtime, tests = upto(patch.slug), [*patch.tests, *patch.guards]
        last = _go_on(last, runtime)
        print(f"{number} of {len(patches)}: {patch.slug}, {plural(len(tests), 'test')}", flush=True)
        try:
            ensure(ws, runtime)
            if tests and lit.run(ws, runtime, tests):
                failed.append(f"utils/run-test --runtime {runtime} {' '.join(tests)}")
        except UserError as error:
            print(f"error: {error}", flush=True)
            failed.append(f"utils/build-runtime {runtime}")
    if failed:
        raise UserError(f"{len(failed)} of {len(patches)} patches fail", "\n      ".join(failed))
    print("each builds and passes its tests")


def _go_on(last: Runtime | None, runtime: Runtime) -> Runtime | None:
    """Lets a runtime be built where the last one was, which is removed. Returns the runtime, or None if it was there
    before, and is to stay."""
    if runtime.work.exists() or runtime.folder.exists():
        return None
    if last:
        if last.work.exists():
            last.work.rename(runtime.work)
        remove(last.folder)
    return runtime


def show(rows: Iterable[Any]) -> None:
    """Prints the rows of configurations.check; UserError if the series breaks one."""
    broken = []
    print(f"{'configuration':16} compile  fail as unpatched  fail with the series only")
    for row in rows:
        if row.reason:
            print(f"{row.name:16} not compiled here: {row.reason}", flush=True)
            continue
        print(f"{row.name:16} {row.compiled:7}  {len(row.upstream):17}  {len(row.series):25}", flush=True)
        for what, failed in (("as unpatched", row.upstream), ("series only", row.series)):
            for error in dict.fromkeys(failed.values()):
                names = [Path(file).name for file in failed if failed[file] == error]
                print(f"    {what}: {error}\n        ({', '.join(names)})", flush=True)
        broken += [row.name] * bool(row.series)
    if broken:
        what = f"the series breaks the runtime's configurations {', '.join(broken)}"
        raise UserError(what, f"utils/check-patches --configurations {' '.join(broken)}")
