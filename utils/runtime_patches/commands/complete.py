"""What the Tab key offers: launch complete COMMAND WORD… CURRENT, for utils/completion.bash."""

from collections.abc import Iterable
from typing import Any

from ..cli import module_of, runtime_names


def start(arguments: Iterable[str]) -> None:
    """Prints what may stand for the last argument, one in a line; `files` for files."""
    command, *words, current = arguments
    if "--" in words:  # what stands behind it is of another program
        found = ["files"]
    elif command == "with-runtime":
        found = ["--bind", "--checkout", "--help", "--toolchain"] if current.startswith("-") else runtime_names()
    else:
        found = _offered(module_of(command).parser(), words, current)
    print("\n".join(found))


def _offered(parser: Any, words: Any, current: Any) -> Any:
    """The options, or the values of the option that is typed, or of the arguments."""
    if current.startswith("-"):
        return sorted(name for action in parser._actions for name in action.option_strings)
    options = {name: action for action in parser._actions for name in action.option_strings}
    # The last option that was typed, if this may still be a value of it; otherwise the arguments.
    last = next((word for word in reversed(words) if word.startswith("-")), None)
    action = options.get(last or "")
    if action and action.nargs != 0 and (action.nargs in ("*", "+") or words[-1] == last):
        complete = parser.completions.get(action.dest)
        return complete() if complete else ["files"]
    arguments = [one.dest for one in parser._actions if not one.option_strings]
    complete = parser.completions.get(arguments[0]) if arguments else None
    return [*complete(), "files"] if complete else ["files"]
