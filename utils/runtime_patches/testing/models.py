"""The step from the code to the models of test/models, as far as a script can check it.

`orders.txt` there lists each atomic operation that the series adds or changes, with its orders
and the model's parameter that stands for it. The operations are read from the patches and
compared; a model gets its orders from the list, and nowhere else.
"""

from __future__ import annotations

import dataclasses
import re
import subprocess
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

from ..base import files, locks, pins
from ..base.errors import UserError
from ..base.process import captured, ending

_ORDERS = ("relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst")
# What Swift calls them.
_OTHER_WORDS = {
    "acquiring": "acquire",
    "releasing": "release",
    "acquiringAndReleasing": "acq_rel",
    "sequentiallyConsistent": "seq_cst",
    "monotonic": "relaxed",
    "acqrel": "acq_rel",
    "seqcst": "seq_cst",
}
_METHOD = (
    r"load|store|exchange|compare_exchange_(?:weak|strong)|fetch_(?:add|sub|and|or|xor)"
    r"|compareExchange|weakCompareExchange|wrappingAdd|wrappingSubtract|add|subtract|bitwiseOr|bitwiseAnd|storeIndexAt|loadIndexAt"
)
_OPERATION = re.compile(
    rf"(?P<object>(?:[\w:]+(?:\[[^\]]*\]|\(\))?(?:\.|->))*)(?<![\w:])(?P<method>{_METHOD})\s*\("
    r"|(?P<builtin>__atomic_\w+|__sync_\w+|Builtin\.(?:atomic|cmpxchg)\w+|(?:std::)?atomic_thread_fence)\s*\("
)
_ORDER = re.compile(
    r"memory_order(?:_|::)(\w+)|SWIFT_MEMORY_ORDER_([A-Z_]+)|__ATOMIC_([A-Z_]+)"
    r"|[oO]rdering: \.(\w+)|(?<=_)(monotonic|acquire|release|acqrel|seqcst)(?=_|\b)"
)
# Without an order these are sequentially consistent; other names are those of other functions, too.
_IMPLICIT = re.compile(r"[^(]*(?:load\(\s*\)|\b(?:compare_exchange_\w+|exchange|fetch_\w+)\()")
_FUNCTION = re.compile(
    r"(?:func\s+)?(~?\w+)\s*(?:<[^;{}]*>)?\([^;{}]*$|(?:func\s+)?(~?\w+)\s*\([^;]*\{\s*$"
    r"|\b(init)\b[?!]?\("
)
_NO_FUNCTION = set(
    """
    if while for switch do else return case catch assert SWIFT_LIKELY SWIFT_UNLIKELY sizeof alignas SWIFT_CC defined
    __attribute__ guard reinterpret_cast static_cast UInt8
    """.split()
)


@dataclasses.dataclass(frozen=True)
class Operation:
    """One atomic operation of the code: `name` is its object and what is done, numbered within its function."""

    patch: str
    function: str
    name: str
    orders: str


@dataclasses.dataclass(frozen=True)
class Listed:
    """A row of orders.txt: an operation, and the parameter of a model or a reason why there is none."""

    operation: Operation
    parameter: str
    reason: str

    @property
    def model(self) -> str:
        """The name of the model: the patch's own, if the parameter is not MODEL:PARAMETER."""
        return self.parameter.rpartition(":")[0] or self.operation.patch

    @property
    def order(self) -> str:
        return self.parameter.rpartition(":")[2]


def operations(patch: str, text: str) -> list[Operation]:
    """The atomic operations that the text of a patch adds, or of which it changes a line."""
    found, seen = [], {}
    for lines, added, heading in _hunks(text):
        code = "\n".join(re.sub(r"//.*", "", line) for line in lines)
        for match in _OPERATION.finditer(code):
            end = _closing(code, match.end() - 1)
            first, last = code.count("\n", 0, match.start()), code.count("\n", 0, end)
            call = code[match.start() : end + 1]
            orders = _orders(call)
            if not any(added[first : last + 1]) or not orders and not _IMPLICIT.match(call):
                continue
            outer = [name for name in re.findall(r"(~?\w+)\s*\(", heading) if name not in _NO_FUNCTION]
            function = _function(lines, first) or next(iter(outer), "-")
            name = _name(match, call)
            number = seen[function, name] = seen.get((function, name), 0) + 1
            name += f"#{number}" if number > 1 else ""
            found.append(Operation(patch, function, name, "/".join(orders) or "seq_cst"))
    return found


def _hunks(text: str) -> Iterator[tuple[list[str], list[bool], str]]:
    """(the lines after the patch, whether each is new, the heading) of each hunk."""
    lines, added, heading = [], [], ""
    for line in text.splitlines():
        if re.match(r"@@ |diff --git |-- $", line):
            yield lines, added, heading
            lines, added = [], []
            heading = line.rpartition("@@")[2].strip()
        elif line.startswith(("+", " ")) and not line.startswith("+++ "):
            lines.append(line[1:])
            added.append(line.startswith("+"))
    yield lines, added, heading


def _closing(code: str, place: int) -> int:
    depth = 0
    for i in range(place, len(code)):
        depth += (code[i] == "(") - (code[i] == ")")
        if depth == 0:
            return i
    return len(code) - 1


def _orders(call: str) -> list[str]:
    words = [match[match.lastindex or 0] for match in _ORDER.finditer(call)]
    orders = [_OTHER_WORDS.get(word, word.lower()) for word in words]
    return [order for order in orders if order in _ORDERS]


def _name(match: re.Match[str], call: str) -> str:
    if match["method"]:
        return re.sub(r"->", ".", match["object"]) + match["method"]
    argument = re.search(r"\(\s*&?([\w.]+)", call)
    builtin = match["builtin"].rpartition("::")[2]
    # The orders are part of some names in Swift.
    builtin = re.sub(r"(_(monotonic|acquire|release|acqrel|seqcst))+", "", builtin)
    return builtin if "fence" in builtin or not argument else f"{builtin}({argument[1]})"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _function(lines: list[str], at: int) -> str:
    limit = _indent(lines[at])
    for i in range(at - 1, -1, -1):
        line = lines[i]
        if re.fullmatch(r"\s*(\{|\w+:;?)?\s*", line) or line.lstrip().startswith(("//", "#")) or _indent(line) >= limit:
            continue
        limit = _indent(line)
        word = re.match(r"[\s})]*(\w+)", line)
        match = None if word and word[1] in _NO_FUNCTION else _FUNCTION.search(line)
        name = match and next(filter(None, match.groups()))
        if name and name not in _NO_FUNCTION:
            return str(name)
    return ""


def read_table(text: str) -> list[Listed]:
    """The rows of orders.txt; UserError with the line of one that is wrong."""
    rows, patch = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("["):
            patch = line.strip("[] \n")
            continue
        words = line.split(None, 4)
        if patch is None or len(words) < 4 or (words[3] == "-") != (len(words) == 5):
            what = f"orders.txt:{number}: not a row: {line.strip()}"
            raise UserError(what, "a row is: function, operation, orders, and a parameter or '- REASON'")
        parameter, reason = ("", words[4]) if words[3] == "-" else (words[3], "")
        rows.append(Listed(Operation(patch, *words[:3]), parameter, reason))
    return rows


def differences(rows: list[Listed], found: list[Operation]) -> list[str]:
    listed = [row.operation for row in rows if not row.operation.function.startswith(("base:", "own:"))]
    table, code = ({(o.patch, o.function, o.name): o.orders for o in some} for some in (listed, found))
    lines = []
    for key in sorted(table.keys() | code.keys()):
        place = "{}: {} {}".format(*key)
        if key not in table:
            lines.append(f"{place} {code[key]}: not in orders.txt")
        elif key not in code:
            lines.append(f"{place}: not in the series")
        elif table[key] != code[key]:
            lines.append(f"{place}: {code[key]}, but orders.txt has {table[key]}")
    return lines


def file_differences(rows: list[Listed], kind: str, folder: Path) -> list[str]:
    """Where rows of operations that no patch touches, KIND:FILE:FUNCTION, differ from the files in a folder."""
    lines = []
    for row in rows:
        if not row.operation.function.startswith(f"{kind}:"):
            continue
        _, file, function = row.operation.function.split(":", 2)
        text = (Path(folder) / file).read_text(encoding="utf-8")
        whole = operations("", "".join(f"+{line}\n" for line in text.splitlines()))
        names = [o.orders for o in whole if o.function == function and o.name == row.operation.name]
        if row.operation.orders not in names:
            there = f"{file}: {function} {row.operation.name}: {' '.join(names) or 'none'}"
            lines.append(f"{there}, but orders.txt has {row.operation.orders}")
    return lines


def parameters(rows: list[Listed], model: str) -> dict[str, str]:
    """{parameter: orders} of a model; UserError if rows of one parameter differ."""
    found = {}
    for row in rows:
        name, orders = row.order, row.operation.orders
        if row.model == model and name:
            if found.setdefault(name, orders) != orders:
                what = f"{model}: {name} is {found[name]} and {orders}"
                raise UserError(what, "give each operation a parameter of its own")
    return found


_WEAKER = {"consume": ("relaxed",), "acquire": ("relaxed",), "release": ("relaxed",), "acq_rel": ("acquire", "release")}


def weakenings(orders: str, kind: str | None = None) -> list[str]:
    """Each single weakening of the orders of an operation; kind: "load" or "store" of one that is only that."""
    parts = orders.split("/")
    found = []
    for i, order in enumerate(parts):
        weaker = _WEAKER.get(order, ())
        if order == "seq_cst":
            # Of a compare-and-swap, its failure is a load.
            weaker = ({"load": "acquire", "store": "release"}.get(kind or "", "acq_rel") if i == 0 else "acquire",)
        found += ["/".join([*parts[:i], w, *parts[i + 1 :]]) for w in weaker]
    return found


def all_weaker(orders: str, kind: str | None = None) -> list[str]:
    """All orders that are weaker than those of an operation."""
    found = []
    for one in weakenings(orders, kind):
        found += [one, *all_weaker(one, kind)]
    return list(dict.fromkeys(found))


def kind_of(operation: Operation) -> str | None:
    """ "load" or "store" if the operation is only that, else None."""
    match = re.search(r"(?<![a-z])(load|store)", operation.name)
    return match[1] if match else None


_LINE = re.compile(r"^// (?:(FAULT) ([^:\s]+): (\S.*)|(NOT NEEDED|NOT SEEN) ([^:\s]+): (\S.*))$", re.M)


def expectations(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """({mutation: fault that must be found}, {mutation: why there is none}) of a model's source."""
    faults, unneeded = {}, {}
    for match in _LINE.finditer(text):
        if match[1]:
            faults[match[2]] = match[3].strip()
        else:
            unneeded[match[5]] = f"{match[4]}: {match[6].strip()}"
    return faults, unneeded


def missing(
    own: dict[str, str], steps: list[str], kinds: Mapping[str, str | None], expected: Collection[str]
) -> list[str]:
    """The single weakenings and left-out steps that no line of the model speaks of.

    kinds: {parameter: "load" or "store"} where seq_cst weakens to acquire or release.
    """
    needed = [f"{name}={weaker}" for name, orders in own.items() for weaker in weakenings(orders, kinds.get(name))]
    return [f"no line about {mutation}" for mutation in (*needed, *steps) if mutation not in expected]


class Answers:
    """What models have answered, in the cache. An answer follows from the key alone: a search has no chance in it."""

    def __init__(self, key: str) -> None:
        self.path = pins.cache() / "models" / f"{files.digest(key)[:16]}.json"

    def get(self, question: str, ask: Callable[[], str]) -> str:
        """The answer to a question; ask() finds it, if it is not there."""
        answers = files.read_record(self.path) or {}
        if question not in answers:
            found = ask()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with locks.exclusive(self.path.parent):
                answers = {**(files.read_record(self.path) or {}), question: found}
                files.write_record(self.path, answers)
        return str(answers[question])


class Program:
    """The program of a model: it is compiled to `path` if it has something to search that no run has searched yet."""

    def __init__(self, source: Path, path: Path, compiler: str) -> None:
        self.source, self.path, self.is_built = source, path, False
        self.argv = [compiler, *"-std=c++17 -O1 -w -I Inputs".split(), source.name]
        done = self._compile("-E", "-P")
        self.answers = Answers(done.stdout + compiler)

    def _compile(self, *options: str | Path) -> subprocess.CompletedProcess[str]:
        done = captured([*self.argv, *options], cwd=self.source.parent)
        if done.returncode:
            raise UserError(f"{self.source} does not compile", done.stderr[-2000:])
        return done

    def run(self, *arguments: str) -> str:
        return self.answers.get(" ".join(arguments), lambda: self._search(arguments))

    def _search(self, arguments: Iterable[str]) -> str:
        if not self.is_built:
            self._compile("-o", self.path)
            self.is_built = True
        done = captured([self.path, *arguments], timeout=240)
        if done.returncode not in (0, 1):
            what = f"{self.source.stem} {ending(done.returncode, done.stdout + done.stderr)}"
            raise UserError(what, "the model's parameters are the rows of orders.txt that name it")
        return done.stdout.strip()


def check(program: Program, table: Path) -> list[str]:
    """Runs the program of a model on its own orders and on each mutation; returns the faults of the model."""
    model = program.source.stem
    rows = read_table(table.read_text(encoding="utf-8"))
    own = parameters(rows, model)
    kinds = {row.order: kind_of(row.operation) for row in rows if row.model == model}
    faults, unneeded = expectations(program.source.read_text(encoding="utf-8"))
    listed = program.run("--list").split("\n")
    steps = [name for name in listed if name.startswith("-")]
    lines = missing(own, steps, kinds, faults.keys() | unneeded.keys())
    lines += [f"{name} is not in orders.txt" for name in listed if name and name[0] != "-" and name not in own]
    arguments = [f"{name}={orders}" for name, orders in own.items()]
    for mutation, fault in [("", "SUCCESS"), *faults.items(), *((m, "SUCCESS") for m in unneeded)]:
        output = program.run(*arguments, *(mutation.split("+") if mutation else ()))
        print(f"{model} {mutation or 'as in the code'}: {output}", flush=True)
        if not re.match(rf"(?:{fault}) after", output):
            lines.append(f"{mutation or 'as in the code'}: {output}, but not {fault}")
    return lines
