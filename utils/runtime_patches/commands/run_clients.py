"""utils/run-clients: the tests of packages that others wrote, on several runtimes."""

import shutil
from pathlib import Path

from .. import report
from ..base.errors import UserError
from ..base.paths import REPORT
from ..base.process import terminable
from ..base.progress import note
from ..cli import Parser, folder, pattern, plural, runtime, seconds
from ..clients import build as packages
from ..clients import description, judge
from ..clients.bundle import Bundle
from ..results import outcome
from ..runtimes import build
from ..workspace import provision

_COLUMNS = ("package", "runtime", "tests", "passed", "failed", "skipped", "lost", "won", "seconds")


def parser():
    made = Parser(
        "utils/run-clients",
        "Runs the tests of packages that others wrote, which are built once with the toolchain's "
        "own\nruntime, on several runtimes. A test that fails on the last one only is run again, alone.",
        [
            "utils/run-clients",
            "utils/run-clients --runtime before after -- swift-nio",
            "utils/run-clients --packages ~/my-package",
        ],
        status="0 no test is lost, 1 one is, or an error, 2 bad usage",
    )
    made.add(
        "packages",
        metavar="PACKAGE",
        nargs="*",
        complete=description.names,
        help="packages of build-script-config/clients.json, or of --packages (default: those that the workspace's "
        "sources hold)",
    )
    made.add_runtimes(
        "--runtime",
        nargs="+",
        action="extend",
        default=[],
        help="runtimes; the last one is judged by the others (default: stock before "
        "after; one alone is judged by before, or before-VARIANT)",
    )
    made.add_argument(
        "--packages",
        dest="folder",
        metavar="DIR",
        type=folder,
        help="your package, or a folder that holds packages: they and their dependencies are taken from there",
    )
    made.add_argument(
        "--offline", action="store_true", help="take dependencies that are not in DIR from the workspace's sources"
    )
    made.add_argument("--filter", metavar="RE", type=pattern, default="", help="only tests whose name matches")
    made.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=seconds(0.01, 999999),
        default="300",
        help="the longest that one test may take (default: 300)",
    )
    made.add_argument("--build-only", action="store_true", help="only build the tests")
    made.add_argument("--list", action="store_true", help="only list the packages")
    made.add_argument(
        "--output", metavar="DIR", type=folder, default=str(REPORT / "clients"), help="folder of the report"
    )
    return made


def main(options):
    if options.list:
        for package in description.load().values():
            print(
                f"{package.name:24} "
                + (f"{package.tag}, {package.url}" if package.url else "in the sources")
                + (f"; only when it is named: {package.left_out}" if package.left_out else "")
            )
        return 0
    runtimes = _runtimes(options.runtime)
    chosen = description.choose(options.packages, options.folder)
    ws = provision.ready(options)
    checkouts = [description.checkout(package, ws.sources, ws.cache / "clients") for package in chosen]
    for one in runtimes:
        build.ensure(ws, one)
    with terminable():
        bundles, failed = _bundles(ws, checkouts, runtimes, options)
        if options.build_only:
            for bundle in bundles:
                print("\n".join(f"{bundle.name}: {path}" for path in bundle.files.values()))
        else:
            judgements = list(filter(None, (_judged(bundle, runtimes, failed) for bundle in bundles)))
            lost = _show(judgements, runtimes, failed, options.output) if judgements else []
            if lost and not failed:
                package, test = lost[0]
                raise UserError(
                    f"{plural(len(lost), 'test')} lost on {runtimes[-1]}: {package}: {test}"
                    + " and others" * (len(lost) > 1),
                    f"its output is in build/logs/clients-{package}-{runtimes[-1].plain}-*.log",
                )
    if failed:
        for error in failed[:-1]:
            note(f"error: {error.message}\nhint: {error.hint}")
        raise failed[-1]
    return 0


def _runtimes(given):
    if not given:
        return [runtime("stock"), runtime("before"), runtime("after")]
    if len(set(given)) < len(given):
        raise UserError("--runtime names a runtime twice", "each test is run once on each", 2)
    if len(given) == 1 and given[0].is_patched:
        return [runtime(f"before-{given[0].variant}" if given[0].variant else "before"), *given]
    return given


def _bundles(ws, checkouts, runtimes, options):
    """([Bundle], [UserError]): one package that does not build does not keep the others from their tests."""
    given = [f"--{name}={getattr(options, name)}" for name in ("checkout", "toolchain") if getattr(options, name)]
    bundles, failed = [], []
    for checkout in checkouts:
        folders = []
        if options.folder and not description.is_package(options.folder):
            folders.append(options.folder)
        if options.offline or checkout.folder.parent == ws.sources:
            folders.append(ws.sources)
        try:
            paths = {
                kind: packages.tests(ws, checkout, kind, folders)
                for kind in dict.fromkeys(map(packages.flavour, runtimes))
            }
        except UserError as error:
            failed.append(error)
            continue
        bundles.append(
            Bundle(
                checkout.name,
                paths,
                checkout.folder,
                options=given,
                timeout=options.timeout,
                skip=checkout.skip,
                binds=[ws.cache, *folders],
                flavour=packages.flavour,
                environment=checkout.environment,
                wanted=options.filter,
            )
        )
    return bundles, failed


def _judged(bundle, runtimes, failed):
    try:
        if not bundle.tests(runtimes[0]):
            raise UserError(
                f"package {bundle.name} has no tests" + " that match" * bool(bundle.wanted.pattern),
                "its tests are listed by " + " ".join(bundle.command(runtimes[0], ["--list-tests"])[-2:]),
            )
        return judge.judge(bundle, runtimes)
    except UserError as error:
        failed.append(error)
        return None
    finally:
        shutil.rmtree(bundle.scratch, ignore_errors=True)


def _show(judgements, runtimes, failed, target):
    """Prints and writes the table; returns [(package, lost test)]."""
    made = outcome.begin("clients", "The tests of other packages", "utils/run-clients")
    rows = []
    for judgement in judgements:
        for side in judgement.sides:
            last = side is judgement.sides[-1] and len(runtimes) > 1
            rows.append(
                [
                    judgement.package,
                    side.runtime.name,
                    *map(str, side.row),
                    str(len(judgement.lost)) if last else "",
                    str(len(judgement.won)) if last else "",
                    f"{side.seconds:.0f}",
                ]
            )
    print(made.table("Tests", _COLUMNS, rows).text(left=2))
    for judgement in judgements:
        for title, tests in (
            ("lost", judgement.lost),
            ("unsteady", judgement.unsteady),
            ("failed on all", judgement.everywhere),
        ):
            made.notes += [f"{title}: {judgement.package}: {test}: {why}" for test, why in tests.items()]
        made.notes += [f"won: {judgement.package}: {test}" for test in judgement.won]
    made.notes += [f"not judged: {error.message}" for error in failed]
    lost = [(judgement.package, test) for judgement in judgements for test in judgement.lost]
    tests = sum(judgement.sides[-1].row[0] for judgement in judgements)
    if len(runtimes) > 1:
        made.summary.append(
            f"{len(lost)} of {tests:,} tests of {plural(len(judgements), 'package')} lost on {runtimes[-1]}."
        )
    print("\n".join([*(line for line in made.notes if not line.startswith("not judged")), *made.summary]), flush=True)
    made.write(Path(target))
    report.renew(target)
    return lost
