"""A run of the tests of several packages on several runtimes, and its table: utils/run-clients."""

from __future__ import annotations

import shutil
from argparse import Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path

from .. import report
from ..base.errors import UserError
from ..base.text import plural
from ..results import outcome
from ..runtimes.runtime import Runtime
from ..workspace.find import Workspace
from . import binaries as packages
from . import description, judge
from .bundle import Bundle, Test
from .description import Checkout
from .judge import Judgement

_COLUMNS = ("package", "runtime", "tests", "passed", "failed", "skipped", "lost", "won", "seconds")


def bundles(
    ws: Workspace, checkouts: Iterable[Checkout], runtimes: Sequence[Runtime], options: Namespace
) -> tuple[list[Bundle], list[UserError]]:
    """([Bundle], [UserError]): if one package does not build, the tests of the others still run."""
    bundles, failed = [], []
    for checkout in checkouts:
        folders = []
        if options.folder and not description.is_package(options.folder):
            folders.append(options.folder)
        if options.offline or checkout.folder.parent == ws.sources:
            folders.append(ws.sources)
        try:
            kinds = dict.fromkeys(map(packages.flavour, runtimes))
            paths = {kind: packages.tests(ws, checkout, kind, folders) for kind in kinds}
        except UserError as error:
            failed.append(error)
            continue
        files = {runtime: paths[packages.flavour(runtime)] for runtime in runtimes}
        binds = [ws.cache, *folders]
        parallel = options.parallel or checkout.package.parallel
        bundles.append(
            Bundle(ws, checkout, files, binds=binds, timeout=options.timeout, wanted=options.filter, parallel=parallel)
        )
    return bundles, failed


def judged(bundle: Bundle, runtimes: Sequence[Runtime], failed: list[UserError]) -> Judgement | None:
    try:
        if not bundle.tests(runtimes[0]):
            what = f"package {bundle.name} has no tests" + " that match" * bool(bundle.wanted.pattern)
            by_hand = bundle.command(runtimes[0], ["--list-tests"])[-2:]
            raise UserError(what, "its tests are listed by " + " ".join(by_hand))
        return judge.judge(bundle, runtimes)
    except UserError as error:
        failed.append(error)
        return None
    finally:
        shutil.rmtree(bundle.scratch, ignore_errors=True)


def show(
    judgements: Sequence[Judgement], runtimes: Sequence[Runtime], failed: Sequence[UserError], target: Path
) -> list[tuple[str, Test]]:
    """Prints and writes the table; returns [(package, lost test)]."""
    result = outcome.begin("clients", "The tests of other packages", "utils/run-clients")
    rows = []
    for judgement in judgements:
        for side in judgement.sides:
            last = side is judgement.sides[-1] and len(runtimes) > 1
            judged = [str(len(tests)) if last else "" for tests in (judgement.lost, judgement.won)]
            rows.append([judgement.package, side.runtime.name, *map(str, side.row), *judged, f"{side.seconds:.0f}"])
    print(result.table("Tests", _COLUMNS, rows).text(left=2))
    for judgement in judgements:
        found = {"lost": judgement.lost, "unsteady": judgement.unsteady, "failed on all": judgement.everywhere}
        for title, tests in found.items():
            result.notes += [f"{title}: {judgement.package}: {test}: {why}" for test, why in tests.items()]
        result.notes += [f"won: {judgement.package}: {test}" for test in judgement.won]
    result.notes += [f"not judged: {error.message}" for error in failed]
    lost = [(judgement.package, test) for judgement in judgements for test in judgement.lost]
    total = sum(judgement.sides[-1].row[0] for judgement in judgements)
    if len(runtimes) > 1:
        count = plural(len(judgements), "package")
        result.summary.append(f"{len(lost)} of {total:,} tests of {count} lost on {runtimes[-1]}.")
    told = [line for line in result.notes if not line.startswith("not judged")]
    print("\n".join([*told, *result.summary]), flush=True)
    result.write(Path(target))
    report.renew(target)
    return lost
