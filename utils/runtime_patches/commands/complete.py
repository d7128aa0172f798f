"""What the Tab key offers: launch complete COMMAND WORD… CURRENT, for utils/completion.bash."""

import sys

from ..cli import module_of, runtime_names


def start(arguments):
    """Prints what may stand for the last argument, one in a line; `files` for files."""
    command, *words, current = arguments
    if "--" in words and command == "with-runtime":
        print("files")
        return
    found = _with_runtime(current) if command == "with-runtime" else _offered(module_of(command).parser(), words, current)
    print("\n".join(found))


def _with_runtime(current):
    return ["--bind", "--checkout", "--help", "--toolchain"] if current.startswith("-") else runtime_names()


def _offered(parser, words, current):
    """The options, or the values of the option that is typed, or of the arguments."""
    if current.startswith("-"):
        return sorted(name for action in parser._actions for name in action.option_strings)
    options = {name: action for action in parser._actions for name in action.option_strings}
    action = next((options[word] for word in reversed(words) if word in options), None)
    takes_more = action and action.nargs in ("*", "+")
    if not action or action.nargs == 0 or not (takes_more or words[-1:] == [next(iter(
            word for word in reversed(words) if word in options))]):
        action = next((one for one in parser._actions if not one.option_strings), None)
    complete = getattr(action, "complete", None)
    return complete() + (["files"] if not action.option_strings else []) if complete else ["files"]


if __name__ == "__main__":
    start(sys.argv[1:])
