"""utils/run-smoke-bench: upstream's benchmark suite on two runtimes, interleaved."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from . import (bench_build, bench_results, bench_stats, bench_table, files, locks,
               pins, progress, report, run, runtimes, setup)
from .errors import UserError
from .git import Git
from .progress import Step, note
from .workspace import remove, require_one_path

# A sample of 1 ms hides the driver's resolution of 1 us. Processes are short and many:
# how the scheduler places threads stays the same for tens of ms, so more samples of one
# process say little. The budget keeps the default run within 5 minutes.
_PLAN = {"sample_us": 1000, "process_us": 16000, "most_samples": 16, "timeout": 120,
         "budget": 200, "fewest_rounds": 6, "most_rounds": 60, "copies": 3}

# Hash seeds as upstream's Benchmark_Driver sets them. And glibc must not give memory
# back between samples: whether it does hangs on which block happens to lie on top of
# the heap, and made single rows 50 % slower on either side. Yours win.
_VARIABLES = {"SWIFT_DETERMINISTIC_HASHING": "1", "SWIFT_BACKTRACE": "enable=off",
              "GLIBC_TUNABLES": f"glibc.malloc.trim_threshold={64 << 20}"}
_HELP = "utils/run-smoke-bench --help"


def add_options(parser):
    """Adds the command's own options."""
    def usage(message):
        # 2 means "something is slower" here.
        raise UserError(message, _HELP)
    parser.error = usage
    parser.add_argument("runtimes", metavar="OLD NEW", nargs="*",
                        help="two runtimes: names (stock, before, after, upto:PATCH) or "
                        "folders that hold lib/swift/linux (default: before after)")
    parser.add_argument("--filter", metavar="RE", help="only benchmarks whose name matches, "
                        "searched in the default rows, else in upstream's whole suite")
    parser.add_argument("--all", action="store_true",
                        help="upstream's whole suite (about 15 minutes)")
    parser.add_argument("--samples", metavar="N", type=int,
                        help="processes measured for each row and column (default: as many "
                        f"as fit into {_PLAN['budget']} s, at most {_PLAN['most_rounds']})")
    parser.add_argument("--list", action="store_true", help="only list the benchmarks")
    parser.add_argument("--build-only", action="store_true",
                        help="only put the benchmark binary into both runtimes' bin/, for "
                        "upstream's own run_smoke_bench")
    parser.add_argument("--output", metavar="DIR", type=Path, default=bench_results.FOLDER,
                        help="where the report goes (default: build/report/smoke)")
    parser.add_argument("--show", metavar="FILE", nargs="?", type=Path,
                        const=bench_results.FOLDER / "results.json",
                        help="only show the table of an earlier results.json")


def main(options):
    """Runs the command; returns its exit status."""
    if options.show:
        return _show(bench_results.load(options.show))
    _check(options)
    names = options.runtimes or ["before", "after"]
    folders = [_given_folder(name) for name in names]
    ws = setup.ready(options)
    for name, folder in zip(names, folders):
        if not folder:
            runtimes.ensure(ws, name, options.checkout)
    sides = {side: _side(name, folder or runtimes.folder(name))
             for side, name, folder in zip(("old", "new"), names, folders)}
    binary, modules, rows = _choose(ws, sides, options)
    if options.list:
        print("\n".join(row["name"] for row in rows))
        return 0
    for name, folder in zip(names, folders):
        if not folder:
            bench_build.lay(binary, runtimes.folder(name))
    if options.build_only:
        for side in sides.values():
            print(f"{side['name']}: {side['folder']}")
        return 0
    output = Path(os.path.abspath(options.output))
    # Two measurements at once would disturb each other.
    with locks.exclusive(bench_results.FOLDER.parent):
        try:
            output.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"--output {output}: {error.strerror}",
                            "give a folder that can be written to") from None
        # As for Ctrl-C: nothing is left behind.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        results = _measure(ws, sides, binary, rows, options.samples, output / "libraries")
    results["modules"] = sorted(modules)
    bench_results.write(output, results, {
        "report.md": bench_table.markdown(results), "report.txt": bench_table.text(results),
        "old.json": bench_results.upstream_lines(results, ["old", "control"]),
        "new.json": bench_results.upstream_lines(results, ["new"])})
    note(f"written to {output}: results.json, report.md, report.txt")
    report.renew(output)
    return _show(results)


def _show(results):
    print(bench_table.text(results, progress.coloured()), end="", flush=True)
    if results["failed"]:
        row = results["failed"][0]
        raise UserError(f"{_count(len(results['failed']))} did not run; {row['name']} on "
                        f"{results['sides'][row['side']]['name']}: {row['reason']}",
                        "the rest of the table holds")
    return bench_results.status(results)


def _count(rows):
    return f"{rows} benchmark{'s' * (rows != 1)}"


def _check(options):
    if len(options.runtimes) not in (0, 2):
        raise UserError(f"{len(options.runtimes)} runtimes are given, not two",
                        "run-smoke-bench OLD NEW, or none for before and after")
    if options.samples is not None and options.samples < bench_stats.FEWEST:
        raise UserError(f"--samples {options.samples} cannot show any change",
                        f"the rank test needs {bench_stats.FEWEST} or more")
    try:
        re.compile(options.filter or "")
    except re.error as error:
        raise UserError(f"--filter {options.filter}: {error}",
                        "give a regular expression, such as 'TaskLocalCopy.*'") from None


def _given_folder(name):
    """The folder that an argument names, or None where it names one of our runtimes."""
    if "/" not in name and not (os.path.isdir(name) and not runtimes.info(name)):
        try:
            runtimes.check_name(name)
            return None
        except UserError as error:
            if not os.path.isdir(name):
                raise UserError(error.message, error.hint + ", or a folder") from None
    folder = Path(os.path.abspath(name))
    if not folder.is_dir():
        raise UserError(f"no folder {folder}", "give a runtime's name or folder")
    for library in runtimes.LIBRARIES:
        if not (folder / "lib" / "swift" / "linux" / library).is_file():
            raise UserError(f"{folder} is not a runtime: it has no "
                            f"lib/swift/linux/{library}",
                            "utils/build-runtime makes such folders in build/runtimes")
    require_one_path(folder)
    return folder


def _side(name, folder):
    libdir = folder / "lib" / "swift" / "linux"
    made = files.read_record(folder / "runtime.json") or {}
    return {"name": name, "folder": str(folder), "library_path": str(libdir),
            "made": {key: value for key, value in made.items() if key != "files"},
            "libraries": {library: {"path": str(libdir / library),
                                    "sha256": files.sha256(libdir / library)}
                          for library in runtimes.LIBRARIES}}


def _choose(ws, sides, options):
    """(binary, names of its modules, rows) that the options ask for."""
    suite = bench_build.suite(ws)
    default = bench_build.default(suite)
    for chosen in [suite] if options.all else [default, suite]:
        if chosen is suite and not options.all and not options.filter:
            break
        if chosen is suite and not options.all:
            note(f"no default row matches '{options.filter}': looking in the whole suite")
        binary = bench_build.build(ws, chosen)
        rows = _rows(ws, sides, binary, options)
        if rows:
            return binary, list(chosen), rows
    raise UserError(f"no benchmark matches '{options.filter}'",
                    "utils/run-smoke-bench --list, or --list --all, names them")


def _rows(ws, sides, binary, options):
    listed = {side: _listing(ws, sides[side], binary) for side in sides}
    rows = []
    for name, tags in sorted({**listed["old"], **listed["new"]}.items()):
        if options.filter:
            wanted = re.search(options.filter, name)
        else:
            wanted = not {"skip", "unstable"} & set(tags)
        has = [side for side in ("old", "new") if name in listed[side]]
        if wanted:
            rows.append({"name": name, "tags": tags, "sides": has,
                         "columns": ["old", "control", "new"] if len(has) == 2 else has})
    return rows


def _listing(ws, side, binary):
    """{name: tags} of the benchmarks that run on a side."""
    done = ws.run([binary, "--list", "--json", "--skip-tags="], check=False,
                  libdir=side["library_path"], binds=[side["folder"]],
                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        found = [json.loads(line) for line in done.stdout.splitlines()]
        if done.returncode == 0:
            return {row["name"]: row["tags"] for row in found}
    except (ValueError, KeyError, TypeError):
        pass
    lines = done.stdout.strip().splitlines()
    raise UserError(f"the benchmark binary does not start on {side['name']}: "
                    + (lines[-1] if lines else f"exit status {done.returncode}"),
                    f"are all of the toolchain's libraries in {side['library_path']}?")


def _measure(ws, sides, binary, rows, samples, scratch):
    begin = time.time()
    environment = bench_results.environment()
    usable = environment["usable_cores"]
    if environment["load_before"][0] > usable / 2:
        note(f"this machine is busy (load {environment['load_before'][0]:.1f} on {usable} "
             "cores): figures will be less sharp")
    plan = {**_PLAN, "binary": str(binary), "rows": rows, "rounds": samples,
            "seed": int(begin), "libraries": list(runtimes.LIBRARIES),
            "scratch": str(scratch), "sides": sides, "variables": _VARIABLES}
    remove(scratch)
    try:
        events = _run(ws, plan, [scratch.parent, *(side["folder"] for side in
                                                   sides.values())])
    finally:
        remove(scratch)
    taken = {row["name"]: {"name": row["name"], "tags": row["tags"],
                           "iterations": row["iterations"],
                           "columns": {c: [] for c in row["columns"]}}
             for row in events["calibrated"]}
    for process in events["process"]:
        _prove(process, sides, scratch)
        taken[process.pop("name")]["columns"][process.pop("column")].append(process)
    for side in sides.values():
        for library, entry in side["libraries"].items():
            if not entry.get("processes") and events["process"]:
                raise UserError(f"no process on {side['name']} was seen with {library}",
                                "is the process table (/proc) hidden on this system?")
    failed = events["failed"]
    verdicts, one_sided = bench_results.conclude(list(taken.values()), failed)
    end = events["end"][0]
    environment.update(load_after=os.getloadavg(), others=end["others"],
                       stolen=end["stolen"])
    git = Git(pins.REPO)
    return {"format": bench_results.FORMAT, "kind": "smoke",
            "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(begin)),
            "seconds": round(time.time() - begin, 1), "sides": sides,
            "binary": {"path": str(binary), "sha256": files.sha256(binary)},
            "toolchain": str(ws.toolchain), "pins": pins.load(),
            "repository": {"commit": git.call("rev-parse", "HEAD").stdout.strip(),
                           "changed": git.call("status", "--porcelain").stdout.splitlines()},
            "environment": environment,
            "method": {**_PLAN, "variables": _VARIABLES, "seed": plan["seed"], "rounds": events["plan"][0]["rounds"],
                       "level": bench_stats.LEVEL, "factor": bench_stats.FACTOR,
                       "least_floor": bench_stats.LEAST_FLOOR},
            "rows": list(taken.values()), "failed": failed, "verdicts": verdicts,
            "one_sided": one_sided}


def _prove(process, sides, scratch):
    """UserError unless a measured process ran on copies of its side's libraries."""
    side = sides["new" if process["column"] == "new" else "old"]
    for library, path in process.pop("loaded").items():
        folder = Path(path).parent
        if folder.parent != scratch or not folder.name.strip("-").startswith(
                process["column"]):
            raise UserError(f"{process['name']} on {side['name']} ran with {path}",
                            f"it should have been {side['library_path']}/{library}: is "
                            "LD_PRELOAD set?")
        entry = side["libraries"][library]
        entry["processes"] = entry.get("processes", 0) + 1


def _run(ws, plan, binds):
    """Runs the measuring loop inside; returns its events {event: [fields]}."""
    events = {"calibrated": [], "plan": [], "process": [], "failed": [], "end": []}
    rows = len(plan["rows"])
    child = ws.popen(["python3", "-B", "-m", "runtime_patches.bench_run"], binds=binds,
                     env={"PYTHONPATH": str(pins.REPO / "utils")}, text=True,
                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    try:
        with Step(f"calibrating {_count(rows)}") as step:
            child.stdin.write(json.dumps(plan))
            child.stdin.close()
            for line in child.stdout:
                event = json.loads(line)
                kind = event.pop("event")
                events[kind].append(event)
                if kind == "plan":
                    break
                step.text = f"calibrating {event['name']}"
        if events["plan"]:
            made = events["plan"][0]
            with Step(f"measuring {_count(rows)}, {made['rounds']} rounds (about "
                      f"{made['seconds']:.0f} s)") as step:
                for line in child.stdout:
                    event = json.loads(line)
                    kind = event.pop("event")
                    events[kind].append(event)
                    if kind == "process":
                        step.text = (f"measuring {_count(rows)}, round "
                                     f"{event['round'] + 1} of {made['rounds']}")
        status = child.wait()
    except BaseException:
        run.end(child)
        raise
    if status or not events["end"]:
        raise UserError(f"the measuring loop ended early (exit status {status})",
                        "its message is above; the earlier report is as it was")
    if not events["process"]:
        row = events["failed"][0]
        raise UserError(f"no benchmark ran; {row['name']}: {row['reason']}",
                        "utils/run-test shows whether this runtime works at all")
    return events
