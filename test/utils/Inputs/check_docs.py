#!/usr/bin/env python3
"""check_docs.py REPO: links lead somewhere; every command has examples and exit statuses in its help, and says in one
line each what is wrong with an option and what helps."""

import re
import subprocess
import sys
from pathlib import Path

repo = Path(sys.argv[1])
programs = (path for path in [*(repo / "utils").iterdir(), *(repo / "benchmark").glob("*/*")] if path.is_file())
commands = sorted(path for path in programs if path.stat().st_mode & 0o111 and path.name != "system_profiler")


def run(command: Path, option: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([command, option], check=False, capture_output=True, text=True)


faults = []
for command in commands:
    told = run(command, "--help")
    faults += [
        f"{command} --help has no {what}"
        for what in ("examples:", "exit status:")
        if told.returncode or f"\n{what}" not in told.stdout
    ]
    told = run(command, "--no-such-option")
    if not re.fullmatch(r"error: .+\nhint: .+\n", told.stderr) or told.returncode not in (1, 2):
        faults.append(f"{command} --no-such-option: {told.stderr}")


def heads(file: Path) -> set[str]:
    """The names by which links call the headings of a file."""
    found = re.findall(r"(?m)^#+ (.*)", file.read_text())
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in found}


files = [repo / "README.md", *repo.glob("*/README.md"), *repo.glob("*/*/README.md"), *repo.glob("docs/*.md")]
if (lines := len(files[0].read_text().splitlines())) > 80:
    faults.append(f"README.md has {lines} lines, 80 are allowed")
for file in files:
    text = file.read_text()
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        target = file.parent / path if path else file
        if link.startswith("http"):
            continue
        if not target.exists():
            faults.append(f"{file.relative_to(repo)}: {link} leads nowhere")
        elif anchor and anchor not in heads(target):
            faults.append(f"{file.relative_to(repo)}: no heading for {link}")
    faults += [
        f"{image.relative_to(repo)} is shown nowhere"
        for image in (file.parent / "img").glob("*")
        if image.name not in text
    ]
print("\n".join(faults) or f"{len(commands)} commands")
sys.exit(bool(faults))
