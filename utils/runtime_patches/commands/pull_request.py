"""utils/pull-request: prints the text of a pull request."""

from argparse import Namespace

from ..cli import Parser, patch_names


def parser() -> Parser:
    command = Parser(
        "utils/pull-request",
        "Prints the text of a pull request for patches: title, reason, tests, figures.",
        ["utils/pull-request NAME > request.md"],
        workspace=False,
    )
    what = "the patches (default: all but those that upstream has or does not want)"
    command.add("patches [PATCH…]", what, complete=patch_names)
    return command


def main(options: Namespace) -> None:
    from ..report import pull_request

    print(pull_request.text(options.patches), end="")
