"""utils/build-runtime: builds runtimes."""

from ..cli import Parser


def parser():
    made = Parser(
        "utils/build-runtime",
        "Builds runtimes: stock, before (unpatched), after (the series and what is edited in\n"
        "the checkout), upto:PATCH, and the series with a sanitizer, with assertions or with random delays:\n"
        "asan, tsan, ubsan, debug, chaos (unpatched: before-asan, …). They are laid in build/runtimes/NAME.",
        ["utils/build-runtime before after", "utils/build-runtime upto:NAME", "utils/build-runtime tsan"],
    )
    made.add_runtimes("runtimes NAME…")
    return made


def main(options):
    from ..runtimes import build
    from ..workspace import provision

    ws = provision.ready(options)
    for one in options.runtimes:
        print(f"{one}: {build.ensure(ws, one)}")
