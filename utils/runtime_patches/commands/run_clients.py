"""utils/run-clients: the tests of packages that others wrote, on several runtimes."""

from argparse import Namespace
from collections.abc import Sequence

from ..base.errors import BadUsage, UserError
from ..base.paths import REPORT
from ..base.text import plural
from ..cli import Parser, ensure, folder, pattern, ready, runtime, seconds
from ..runtimes.runtime import Runtime


def parser() -> Parser:
    command = Parser(
        "utils/run-clients",
        "Builds the tests of other people's packages once, with the toolchain's own runtime, and runs\n"
        "them on several runtimes. A test that fails only on the last runtime is run again, alone.",
        [
            "utils/run-clients",
            "utils/run-clients --runtime before after -- swift-nio",
            "utils/run-clients --packages ~/my-package",
        ],
        status="0 no test is lost, 1 one is, or an error, 2 bad usage",
    )
    what = (
        "packages of build-script-config/clients.json, or of --packages (default: those that the workspace's "
        "sources hold)"
    )
    command.add("packages [PACKAGE…]", what, complete=_names)
    what = (
        "runtimes; the last one is judged by the others (default: stock before "
        "after; one alone is judged by before, or before-VARIANT)"
    )
    command.add_runtimes("--runtime NAME…", what, action="extend", default=[])
    what = "your package, or a folder that holds packages: they and their dependencies are taken from there"
    command.add("--packages DIR", what, dest="folder", type=folder)
    command.add("--offline", "take dependencies that are not in DIR from the workspace's sources")
    command.add("--filter RE", "only tests whose name matches", type=pattern, default="")
    longest = "the longest that one test may take (default: 300)"
    command.add("--timeout SECONDS", longest, type=seconds(0.01, 999999), default="300")
    command.add("--parallel", "run XCTest in as many processes at once as there are cores (swift-collections always)")
    command.add("--build-only", "only build the tests")
    command.add("--list", "only list the packages")
    command.add("--output DIR", "folder of the report", type=folder, default=str(REPORT / "clients"))
    return command


def _names() -> list[str]:
    from ..clients import description

    return list(description.load())


def main(options: Namespace) -> int:
    from ..base.process import terminable
    from ..base.progress import note
    from ..clients import description, running

    if options.list:
        for package in description.load().values():
            facts = [f"{package.tag}, {package.url}" if package.url else "in the sources"]
            facts += [f"without {skipped}: {why}" for skipped, why in package.skip.items()]
            print(f"{package.name:24} {'; '.join(facts)}")
        return 0
    runtimes = _runtimes(options.runtime)
    chosen = description.choose(options.packages, options.folder)
    ws = ready(options)
    checkouts = [description.checkout(package, ws.sources, ws.cache / "clients") for package in chosen]
    ensure(ws, *runtimes)
    with terminable():
        bundles, failed = running.bundles(ws, checkouts, runtimes, options)
        if options.build_only:
            for bundle in bundles:
                print("\n".join(f"{bundle.name}: {path}" for path in dict.fromkeys(bundle.files.values())))
        else:
            judgements = list(filter(None, (running.judged(bundle, runtimes, failed) for bundle in bundles)))
            lost = running.show(judgements, runtimes, failed, options.output) if judgements else []
            if lost and not failed:
                name, test = lost[0]
                last, others = runtimes[-1], " and others" * (len(lost) > 1)
                what = f"{plural(len(lost), 'test')} lost on {last}: {name}: {test}{others}"
                raise UserError(what, f"its output is in build/logs/clients-{name}-{last.plain}-*.log")
    if failed:
        for error in failed[:-1]:
            note(f"error: {error.message}\nhint: {error.hint}")
        raise failed[-1]
    return 0


def _runtimes(given: Sequence[Runtime]) -> Sequence[Runtime]:
    if not given:
        return [runtime("stock"), runtime("before"), runtime("after")]
    if len(set(given)) < len(given):
        raise BadUsage("--runtime names a runtime twice", "each test is run once on each")
    if len(given) == 1 and given[0].is_patched:
        return [runtime(f"before-{given[0].variant}" if given[0].variant else "before"), *given]
    return given
