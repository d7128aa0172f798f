"""utils/trace: shows what the runtime's recorder has written."""

import os
from argparse import Namespace

from ..base.errors import BadUsage, UserError
from ..cli import Parser, folder, integer, ready


def parser() -> Parser:
    made = Parser(
        "utils/trace",
        "Shows what the runtime's recorder has written (SWIFT_TRACE=FILE): how long tasks waited in\n"
        "queues and ran, by the function in which they began; actors with long queues; the use of\n"
        "threads; tasks that nothing will resume; lost events.",
        [
            "utils/trace server.trace",
            "utils/trace server.trace --perfetto server.pftrace",
            "utils/trace --record -- ./server",
            "utils/trace --counters $(pidof server)",
            "utils/trace --record --runtime tsan --output server.trace -- ./server",
        ],
        status="0 done, 1 an error, 2 bad usage; with --record that of the program if it is not 0",
    )
    made.intermixed = True
    made.add("file [FILE]", "a file of the recorder", type=folder)
    made.add("--perfetto OUT", "also write it for ui.perfetto.dev", type=folder)
    made.add("--json OUT", "also write it in Chrome's format", type=folder)
    made.add("--rows N", "the most rows of a table (default: 8)", type=integer(1), default=8)
    made.add("--record", "run the program after -- with the recorder, and show its trace")
    made.add_runtimes("--runtime NAME", "with --record: the runtime (default: after)", default="after")
    made.add(
        "--output FILE",
        "with --record: where the trace goes; a file of this name is replaced (default: it is not kept)",
        type=folder,
    )
    what = "print the counters of a process as Prometheus text; it runs with SWIFT_TRACE and SWIFT_TRACE_SIGNAL"
    made.add("--counters PID", what, type=integer(1))
    made.take_rest("program", "PROGRAM ARGUMENT…", "with --record: what is run")
    return made


def main(options: Namespace) -> int:
    import shlex

    from ..traces import header

    command = options.program
    if bool(options.file) + options.record + bool(options.counters) != 1:
        raise BadUsage("give one of FILE, --record -- PROGRAM and --counters PID", "utils/trace --help")
    if bool(command) != options.record:
        what = "--record needs a program" if options.record else f"'{command[0]}' is not for --record"
        raise BadUsage(what, "utils/trace --record -- PROGRAM ARGUMENT…")
    if options.output and not options.record:
        raise BadUsage("--output needs --record", "utils/trace --record --output FILE -- PROGRAM")
    files = [one for one in (options.file, options.perfetto, options.json, options.output) if one]
    for one in files:
        if os.path.realpath(one.parent) == "/":
            raise UserError(f"{one}: the workspace does not see files in /", "give a path in a folder")
    for output in files[bool(options.file) :]:
        if not output.parent.is_dir():
            raise UserError(f"{output.parent} is no folder", f"mkdir -p {shlex.quote(str(output.parent))}")
        if output.is_dir():
            raise UserError(f"{output} is a folder", "give the path of a file")
        header.refuse_irregular(str(output))
    if len({os.path.realpath(one) for one in files}) < len(files):
        raise UserError(f"one file is named twice: {', '.join(map(str, files))}", "give each its own")
    if options.output and "%p" in str(options.output):
        raise UserError(f"{options.output}: the recorder replaces %p by the process", "give another path")
    if options.counters:
        from ..traces import counters

        print(counters.text(counters.of_process(options.counters)), end="")
        return 0
    if options.record:
        return _record(options)
    header.read(str(options.file))  # before the workspace is made
    return _show(options, str(options.file))


def _record(options: Namespace) -> int:
    """Runs the program with the recorder, and shows its trace. Returns the exit status, which is the program's if that
    is not 0; UserError if there is no trace."""
    import signal
    import subprocess
    import tempfile

    from ..base.paths import UTILS
    from ..base.process import ending, terminable
    from ..base.progress import note
    from ..traces import header

    ws, command = ready(options, options.runtime), options.program
    with terminable(), tempfile.TemporaryDirectory() as kept:
        # What was recorded before stays until there is something new.
        path = f"{options.output}.partial" if options.output else os.path.join(kept, "trace")
        if os.path.lexists(path):
            os.unlink(path)
        # Ctrl-C ends the program. A handler, as the program would inherit that the signal is ignored.
        old = signal.signal(signal.SIGINT, lambda *_: None)
        # Not by the workspace: Ctrl-C would end bubblewrap, and with that the kernel kills the program at once.
        folder = os.path.dirname(path)
        runner = [UTILS / "with-runtime", *ws.options, "--bind", folder, options.runtime, "--", *command]
        done = subprocess.run([str(word) for word in runner], env={**os.environ, "SWIFT_TRACE": path})
        signal.signal(signal.SIGINT, old)
        if not os.path.exists(path):
            ended = f": it {ending(done.returncode)}" if done.returncode else ""
            what = f"{command[0]} on {options.runtime} has written no trace{ended}"
            raise UserError(what, "does it use Swift concurrency, and has this runtime the recorder?")
        if done.returncode:
            note(f"{command[0]} {ending(done.returncode)}")
        if options.output:
            # The second one is of a program that has run the program by exec.
            for end in ("", ".old"):
                if os.path.exists(path + end):
                    os.replace(path + end, f"{options.output}{end}")
            path = str(options.output)
        header.read(path)
        return _show(options, path) or (done.returncode if done.returncode >= 0 else 128 - done.returncode)


def _show(options: Namespace, path: str) -> int:
    """numpy, the symbolizer and the demangler are the workspace's."""
    import json
    from pathlib import Path

    from ..base.paths import UTILS
    from ..traces import header

    ws = ready(options)
    outputs = [os.path.realpath(one) if one else None for one in (options.perfetto, options.json)]
    path = os.path.realpath(path)
    plan = {"file": path, "perfetto": outputs[0], "json": outputs[1], "rows": options.rows}
    binds = [os.path.dirname(one) for one in (path, *outputs) if one]
    argv = ["python3", "-B", "-m", "runtime_patches.traces.inside", json.dumps(plan)]
    try:
        status: int = ws.run(argv, env={"PYTHONPATH": str(UTILS)}, binds=[*binds, os.getcwd()], check=False).returncode
    finally:
        # Of a file that was not ended: Ctrl-C ends bubblewrap, and with it what writes.
        for one in filter(None, outputs):
            Path(f"{one}.partial").unlink(missing_ok=True)
    if status == 137:
        what = "the reader of the trace in the workspace was killed, probably because memory ran out"
        raise UserError(what, header.SMALLER)
    return status
