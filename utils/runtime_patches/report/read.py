"""Finds the results of all benchmarks, reads and checks them.

Three kinds of files are known: results.json of run-smoke-bench, report.json of
benchmark/deinit/reproduce, and results.json or page.json of any other harness:

    {"format": 1, "kind": "harness", "name": "scaling", "title": text, "command": text,
     "started": text, "environment": bench_results.environment(), "notes": [text],
     "summary": [text],
     "dots": [{"title": text, "x": text, "reference": number, "series": [text],
               "rows": [[text, [a number or null for each of series]]]}],
     "tables": [{"title": text, "columns": [text], "rows": [[text or number]]}],
     "curves": [{"title": text, "x": text, "y": text, "log_x": false, "log_y": false,
                 "series": [{"name": text, "points": [[x, y]]}]}]}

of which only format, kind, name and title must be there.
"""

import dataclasses
import hashlib
import json
from pathlib import Path

from .. import bench_results
from ..errors import UserError
from ..shapes import Check, is_number, one_of, optional

_NAMES = ("results.json", "report.json", "page.json")
_HINT = ("give results.json of utils/run-smoke-bench, report.json of "
         "benchmark/deinit/reproduce, or folders that hold them")


@dataclasses.dataclass
class Result:
    """One file of results. kind: "smoke", "deinit" or "harness"; label: the machine
    (and run) as the page calls it: A, B, or A2 for its second run of one kind."""
    kind: str
    path: Path
    data: dict
    label: str = ""

    @property
    def environment(self):
        """The machine; an empty dictionary where the file does not tell."""
        return self.data.get("environment") or {}


def found(folder):
    """The files of results in a folder such as build/report, and below. A harness whose
    results.json has a form of its own lays page.json beside it."""
    files = {path for depth in ("", "*/", "*/*/") for name in _NAMES
             for path in folder.glob(depth + name)}
    return sorted(path for path in files if not (
        path.name == "results.json" and path.with_name("page.json") in files
        or path.parent.name == "quick" and path.parents[1] / path.name in files))


def load_all(paths):
    """([Result], [notes]) of files, or folders that hold some. UserError for damaged ones."""
    named = list(map(Path, paths))
    files = []
    for path in named:
        below = found(path) if path.is_dir() else [path]
        if not below:
            raise UserError(f"no results in {path}", _HINT)
        files += [file for file in below if file not in files]
    if not files:
        raise UserError("there are no results yet", "utils/run-smoke-bench measures some")
    results, notes, seen = [], [], {}
    for file in files:
        text = _text(file)
        digest = hashlib.sha256(text.encode()).digest()
        if digest in seen:
            notes.append(f"{file} holds the same as {seen[digest]}: counted once")
            continue
        seen[digest] = file
        result = _load(file, text)
        if result:
            results.append(result)
        elif file in named:
            raise UserError(f"{file} holds no results that are known here", _HINT)
        else:
            notes.append(f"{file} holds no results that are known here: left out")
    if not results:
        raise UserError(f"{files[0]} holds no results that are known here", _HINT)
    _name_machines(results)
    return results, notes


def _text(path):
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"there is no {path}", _HINT) from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}", _HINT) from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is damaged: it is not text", _HINT) from None


def _load(path, text):
    """The Result in a file, or None where it is of no known form."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is damaged: {error}", "measure again, or leave it out") from None
    if isinstance(data, dict) and "verdicts" in data:
        bench_results.check(path, data, "measure again, or leave it out")
        return Result("smoke", path, data)
    if isinstance(data, dict) and "conditions" in data:
        _Check(path).deinit(data)
        return Result("deinit", path, data)
    if isinstance(data, dict) and data.get("kind") == "harness":
        if data.get("format") != 1:
            raise UserError(f"{path} has format {data.get('format')}, this version reads 1",
                            "measure again, or leave it out")
        _Check(path).harness(data)
        return Result("harness", path, data)
    return None


def _cell(value):
    return value is None or isinstance(value, (str, bool)) or is_number(value)


_DEINIT = {
    "conditions": str, "runtimes": [str],
    "goals": [{"text": str, "runtime": str, "value": is_number, "limit": str, "reached": bool}],
    "rows": [{"experiment": str, "name": str, "command": str, "here": dict,
              "params": [one_of("vo2", "vo", "v", "o2", "o", "1")],
              "phase": one_of("Scheduling", "Execution", "Total"), "diff": optional(str),
              "min_values": optional(float), "ratio": optional(float), "m1": optional(dict)}]}
_MODEL = {"formula": str, "coefficients": [is_number], "r_squared": float}
_M1 = {"formula": str, "r_squared": is_number}
_HARNESS = {"name": str, "title": str}
_TABLE = {"title": str, "columns": [str], "rows": [[_cell]]}
_DOTS = {"title": str, "x": str, "series": [str], "rows": [list]}
_CURVE = {"title": str, "x": str, "y": str,
          "series": [{"name": str, "points": [[is_number]]}]}


class _Check(Check):
    """What the page needs of each kind of results."""

    def harness(self, data):
        """Only what is there."""
        self.shape(data, _HARNESS)
        self.shape(data.get("notes", []), [str], "notes")
        self.shape(data.get("summary", []), [str], "summary")
        self.shape(data.get("tables", []), [_TABLE], "tables")
        self.shape(data.get("dots", []), [_DOTS], "dots")
        self.shape(data.get("curves", []), [_CURVE], "curves")
        self.shape(data.get("environment", {}), dict, "environment")
        for entry in data.get("dots", []):
            self.shape(entry.get("reference"), optional(float), "a reference")
            for row in entry["rows"]:
                if len(row) != 2 or not isinstance(row[0], str):
                    self.fail("a row of dots")
                self.shape(row[1], [optional(float)], f"the dots of {row[0]}")
                if len(row[1]) != len(entry["series"]):
                    self.fail(f"the dots of {row[0]}")
        for curve in data.get("curves", []):
            for series in curve["series"]:
                if any(len(point) != 2 for point in series["points"]):
                    self.fail(f"a point of {series['name']}")

    def deinit(self, data):
        """The fitted models, too."""
        self.shape(data, _DEINIT)
        self.shape(data.get("environment", {}), dict, "environment")
        for row in data["rows"]:
            if not row["params"]:
                self.fail(f"the parameters of {row['name']}")
            if row["m1"]:
                self.shape(row["m1"], _M1, f"m1 of {row['name']}")
            for name, model in row["here"].items():
                self.shape(model, _MODEL, f"{row['name']} on {name}")
                if len(model["coefficients"]) != len(row["params"]):
                    self.fail(f"the model of {row['name']} on {name}")


def _name_machines(results):
    """Labels: a letter a machine; its later runs of one kind have a number."""
    machines, runs = {}, {}
    for result in sorted(results, key=lambda r: (r.kind != "smoke", str(r.data.get("started", "")),
                                                 str(r.path))):
        machine = machine_of(result)
        letter = machines.setdefault(machine, _letters(len(machines)))
        key = (letter, result.kind, result.data.get("name"), _sides(result))
        runs[key] = runs.get(key, 0) + 1
        result.label = letter + (str(runs[key]) if runs[key] > 1 else "")


def _letters(number):
    text = ""
    while number >= 0:
        text = chr(ord("A") + number % 26) + text
        number = number // 26 - 1
    return text


def _sides(result):
    sides = result.data.get("sides")
    return (sides["old"]["name"], sides["new"]["name"]) if sides else None


def machine_of(result):
    """What tells one machine from another."""
    environment = result.environment
    return ", ".join(str(environment.get(name)) for name in
                     ("cpu", "cores", "memory", "kernel", "machine"))
