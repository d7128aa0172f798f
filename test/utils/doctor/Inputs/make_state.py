#!/usr/bin/env python3
"""make_state.py DIR: a copy of this repository in DIR/repo and a cache in DIR/cache, in
all states that doctor tells apart; DIR/mine is a folder of the user's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import tiny
from make_results import scenario
from runtime_patches.base import files, pins, schema
from runtime_patches.runtimes.libraries import NAMES

target = Path(sys.argv[1]).resolve()
clone, cache = target / "repo", target / "cache" / "swift-runtime-patches"
tiny.make_repo(clone)
os.environ["XDG_CACHE_HOME"] = str(target / "cache")
toolchain = pins.load().distribution.toolchain.lstrip("/")
tiny.write(pins.cache() / "root" / toolchain / "bin/swiftc")
subprocess.run(["git", "init", "-q", pins.cache() / "source/swift"], check=True)
tiny.write(pins.cache() / "ccache/file", "x" * 3_000_000)
tiny.write(pins.cache() / "clients/some-package/tests")
tiny.write(pins.cache() / "before-000000000000/build.ninja")
tiny.write(pins.cache() / "root.partial/half")
for name in ("system-sid", "system-sid-000000000000"):  # the second is newer
    tiny.write(pins.cache() / name / "file")
tiny.write(cache / "111111111111/root/old")
for name, folder in (("left", pins.cache()), ("older", cache / "111111111111")):
    tiny.write(target / "tmp" / f"swift-runtime-patches-{name}" / "half")
    (folder / "temporary").symlink_to(target / "tmp" / f"swift-runtime-patches-{name}")
build = clone / "build"
RECORDS: dict[str, dict[str, object] | None] = {
    "after": {"name": "after", "series": "0"},
    "before": {"name": "before"},
    "upto-x": None,
}
for name, made in RECORDS.items():
    home = build / "runtimes" / name
    libraries = [home / "lib/swift/linux" / library for library in NAMES]
    for library in libraries:
        tiny.write(library)
    if made:
        made["sha256"] = {library.name: files.sha256(library) for library in libraries}
        files.write_intact(home / "runtime.json", made, libraries)
tiny.write(build / "work/after/file")
measured = scenario("same")
measured.sides.new.libraries = {"libswiftCore.so": {"sha256": "0"}}
tiny.write(build / "report/smoke/results.json", schema.dump(measured))
tiny.write(build / "report/other/results.json", "{")
tiny.write(build / "checkout/swift/work")
tiny.write(target / "mine/dear")
(build / "linked").symlink_to(target / "mine")
