#!/usr/bin/env python3
"""fetch.py FOLDER: fetches a package from a git repository in FOLDER, and from none, and at a moved tag."""

import sys
from pathlib import Path

from runtime_patches.base.errors import UserError
from runtime_patches.clients import description
from tiny import git

folder = Path(sys.argv[1]).resolve()
repository = folder / "repository"
repository.mkdir(parents=True)
(repository / "Package.swift").write_text("// swift-tools-version: 5.9\n")
for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"], ["tag", "1.0"]):
    git(repository, *words)
commit = git(repository, "rev-parse", "HEAD")
for name, url, tag, wanted in (
    ("good", repository.as_uri(), "1.0", commit),
    ("moved", repository.as_uri(), "1.0", "0" * 40),
    ("none", "file:///no/such/repository", "1.0", commit),
    ("notag", repository.as_uri(), "2.0", commit),
):
    package = description.Package(name, url=url, tag=tag, commit=wanted)
    try:
        found = description.checkout(package, Path("/none"), folder / "cache")
        print(f"{name}: {(found.folder / 'Package.swift').is_file()} {found.stable}")
    except UserError as error:
        print(f"{name}: {error.message} | {error.hint}")
