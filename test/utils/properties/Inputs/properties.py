"""What the property-based tests share: damage to text and to JSON, and the one property that
all input has: an answer, or one line of error and one of hint."""

import contextlib
import copy
import io
import json
import sys
from pathlib import Path

import hypothesis
from hypothesis import strategies as st
from runtime_patches.base import errors

REPO = Path(sys.argv[1])
_NUMBERS = [int(word) for word in sys.argv[2:]]

_PIECES = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        ["\0", "\r", "\t", "  ", "-1", "0", "nan", "1e999", ":", "---", "\n", "#", "../", "None", "ä", "\ud800"]
    ),
)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def damaged_text(draw, whole):
    """Bytes of `whole` after one to three edits of its lines, and perhaps cut off."""
    lines = whole.splitlines(keepends=True)
    for _ in range(draw(st.integers(1, 3))):
        number = draw(st.integers(0, max(0, len(lines) - 1)))
        line = lines[number] if lines else ""
        at = draw(st.integers(0, len(line)))
        lines[number : number + 1] = draw(
            st.sampled_from(
                (
                    [],
                    [line, line],
                    [line.lstrip()],
                    [line.rstrip()],
                    ["\n", line],
                    [line[:at]],
                    ["  " + line],
                    [line[:at] + "\n" + line[at:]],
                    [line[:at] + draw(_PIECES) + line[at:]],
                    [line[:at] + draw(_PIECES) + line[at + 1 :]],
                    [*lines[number + 1 : number + 2], line],
                )
            )
        )
    data = "".join(lines).encode("utf-8", "surrogatepass")
    if draw(st.integers(0, 9)) == 0:
        data = data[: draw(st.integers(0, len(data)))]
    return data


def _places(value, found):
    """All (container, key) in a tree; of long lists the first three."""
    keys = list(value) if isinstance(value, dict) else range(min(3, len(value)))
    for key in keys:
        found.append((value, key))
        if isinstance(value[key], (dict, list)):
            _places(value[key], found)
    return found


@st.composite
def damaged_json(draw, whole):
    """Bytes of `whole` with one or two parts gone or replaced; or its text damaged."""
    if draw(st.integers(0, 4)) == 0:
        return draw(damaged_text(json.dumps(whole, indent=1)))
    data = copy.deepcopy(whole)
    for _ in range(draw(st.integers(1, 2))):
        places = _places(data, [])
        if not places:
            break
        container, key = draw(st.sampled_from(places))
        if draw(st.booleans()):
            del container[key]
        else:
            container[key] = draw(_VALUES)
    return json.dumps(data).encode()


class Refused(Exception):
    """The input was refused in the right form."""


def answer(call, *args):
    """What the call returns. Refused for a UserError, whose two lines are looked at."""
    text = io.StringIO()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return call(*args)
    except errors.UserError as error:
        refusal = error
    except OSError as error:
        refusal = errors.of_system(error)
    with contextlib.redirect_stderr(text):
        errors.report(refusal)
    lines = text.getvalue().split("\n")
    assert len(lines) == 3 and lines[0][7:].strip() and lines[1][6:].strip(), lines
    assert lines[0].startswith("error: ") and lines[1].startswith("hint: "), lines
    assert text.getvalue().replace("\n", "").isprintable(), lines
    raise Refused


def main(*properties):
    """Checks each property with the number of examples that the command line gives (always
    the same ones), or for a second number with others."""
    examples, *seed = _NUMBERS
    for check in properties:
        counts = {"answered": 0, "refused": 0}
        test = hypothesis.given(st.data())(_counting(check, counts))
        if seed:
            test = hypothesis.seed(seed[0])(test)
        hypothesis.settings(
            max_examples=examples,
            derandomize=not seed,
            database=None,
            deadline=None,
            suppress_health_check=list(hypothesis.HealthCheck),
        )(test)()
        print(f"{check.__name__}: {counts['answered']} answered, {counts['refused']} refused")


def _counting(check, counts):
    def count(data):
        try:
            check(data)
            counts["answered"] += 1
        except Refused:
            counts["refused"] += 1

    return count
