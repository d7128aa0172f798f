"""utils/apply-patches: applies the series to a checkout."""

from argparse import Namespace

from ..base.errors import BadUsage
from ..cli import Parser, patch_names, ready


def parser() -> Parser:
    command = Parser(
        "utils/apply-patches",
        "Applies the series to a Swift checkout, one commit for each patch. A last commit adds this\n"
        "repository's tests and benchmarks at the same paths. Without --checkout, works on build/checkout.",
        [
            "utils/apply-patches --checkout ~/swift-project",
            "utils/apply-patches --checkout ~/swift-project --only NAME",
        ],
    )
    command.add("--only PATCH…", "apply these patches only (in the series' order)", default=[], complete=patch_names)
    command.add("--3way", "merge where the context differs (another Swift version)", dest="three_way")
    return command


def main(options: Namespace) -> None:
    from ..base import locks
    from ..base.paths import BUILD
    from ..base.text import plural
    from ..series import checkout, dispatch, own_checkout, series
    from ..workspace import find

    if not options.checkout:
        if options.only:
            hint = "build/checkout always holds the whole series; utils/build-runtime upto:PATCH builds a part of it"
            raise BadUsage("--only needs --checkout", hint)
        ws = ready(options)
        with locks.exclusive(BUILD):
            own_checkout.renew(ws)
            dispatch.renew(ws)
        print(f"{own_checkout.FOLDER}/swift holds the series: {', '.join(series.load().names)}")
        if dispatch.FOLDER.is_dir():
            print(f"{dispatch.FOLDER} holds the series of libdispatch: {', '.join(dispatch.load().names)}")
        return
    folder = find.check_checkout(options.checkout, options.three_way)
    applied, state = checkout.apply(folder, options.only, options.three_way)
    if applied:
        count = plural(len(applied), "patch", "patches")
        print(f"{folder}/swift: {count} and the tests applied on {state.head[:12]}: {', '.join(applied)}")
    else:
        print(f"{folder}/swift: the series is applied already")
