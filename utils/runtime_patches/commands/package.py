"""utils/package: packs the libraries of the series for other machines."""

from argparse import Namespace

from ..base.architectures import ARCHITECTURES
from ..cli import Parser, ready


def parser() -> Parser:
    command = Parser(
        "utils/package",
        "Packs the libraries of the series for other machines: shared and static libraries, built\n"
        "against an older system and checked, with an installer. Writes the archives and SHA256SUMS\n"
        "to build/package. The same series gives the same bytes.",
        ["utils/package", "utils/package --architecture arm64"],
    )
    what, known = "the architecture to pack for: x86_64 or arm64 (default: x86_64)", list(ARCHITECTURES)
    command.add("--architecture NAME", what, choices=known, default="x86_64", complete=lambda: known)
    return command


def main(options: Namespace) -> None:
    from ..base import locks
    from ..base.paths import BUILD
    from ..runtimes import archive
    from ..runtimes.package import Package

    ws = ready(options)
    with locks.exclusive(BUILD):
        package = Package(ws, ARCHITECTURES[options.architecture])
        package.build()
        made, debug = archive.make(package)
    print(made)
    print(debug)
