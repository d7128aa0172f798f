#!/usr/bin/env python3
"""make_world.py DIR: a world of its own to set up in, without a network, in seconds.

DIR/repo   a copy of this repository whose pins name a tiny archive, with a small series (tiny.py)
DIR/bin    mmdebstrap and apt-get of that archive, for PATH
The archive's tools (Inputs/archive) "compile" its Swift by writing the sources to the libraries, slowly, and not
complete until the end.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from shlex import quote as shell_quote

from tiny import lay_series, make_repo, make_sources, write

world = Path(sys.argv[1]).resolve()
here = Path(__file__).resolve().parent
shutil.rmtree(world, ignore_errors=True)
clone, archive = world / "repo", world / "archive"
make_repo(clone)
LIBRARIES = ("libswiftCore.so", "libswift_Concurrency.so", "libswiftSynchronization.so")


def quote(path: object) -> str:
    return shell_quote(str(path))


# The sources, with enough to copy, so that there is a time at which a copy is half.
make_sources(world / "swiftlang")
for number in range(300):
    write(world / f"swiftlang/swift/lib/many/{number}.txt", f"{number}\n" * 50)
write(world / "swiftlang/libdispatch/README", "a repository beside swift\n")
archive.mkdir()
with tarfile.open(archive / "swiftlang_6.2.3.orig.tar.xz", "w:xz") as tar:
    tar.add(world / "swiftlang", "swiftlang")

# What the root file system holds: a few tools of this host and those of Inputs/archive.
root = archive / "root"
TOOLS = "sh bash cat chmod cmp cp find head mkdir mv rm sleep sort tail tar xargs xz env ls touch sha256sum"
for tool in TOOLS.split():
    path = os.path.realpath(str(shutil.which(tool)))
    listed = subprocess.run(["ldd", path], capture_output=True, text=True).stdout
    for library in re.findall(r"(/\S+) \(0x", listed):
        inside = re.sub("^/(lib|lib64)/", r"/usr/\1/", library)
        target = root / inside.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, target)
    (root / "usr/bin").mkdir(parents=True, exist_ok=True)
    shutil.copy(path, root / "usr/bin" / tool)
for program in (here / "archive").iterdir():
    shutil.copy(program, root / "usr/bin")
for name in ("bin", "lib", "lib64"):
    if (root / "usr" / name).exists():
        (root / name).symlink_to(f"usr/{name}")
write(root / "etc/apt/sources.list", "deb none sid main\n")
stock = root / "usr/libexec/swift/lib/swift/linux"
for library in (*LIBRARIES, "libdispatch.so"):
    write(stock / library, "stock\n")
write(root / "usr/libexec/swift/bin/swiftc", "#!/bin/sh\n", 0o755)
(root / "usr/share/archive").mkdir(parents=True)
shutil.copy(archive / "swiftlang_6.2.3.orig.tar.xz", root / "usr/share/archive")

# The archive's mmdebstrap copies that root, file by file; a file says that it is complete.
write(
    world / "bin/mmdebstrap",
    f"""#!/bin/bash
trap 'exit 143' TERM
[ "$1" != --unshare-helper ] || {{ shift; exec "$@"; }}
case "${{FAKE_ARCHIVE:-}}" in
  gone) echo "E: Version '6.2.3-1*' for 'swiftlang' was not found" >&2; exit 100 ;;
  down) echo "W: Failed to fetch InRelease  Temporary failure resolving" >&2; exit 100 ;;
  deaf) trap "" TERM; mkdir "$TMPDIR/mmdebstrap.half"; sleep 60 ;;
esac
echo installing >> {quote(world / "installed")}
for last; do
  case $last in */root.partial) target=$last ;; --format=tar) pack=yes ;; esac
done
[ -z "${{pack:-}}" ] || target=$(mktemp -d)
cd {quote(root)}
for entry in etc usr/*; do
  mkdir -p "$target/${{entry%/*}}" && cp -a "$entry" "$target/$entry" || exit
  sleep 0.03
done
mkdir -p "$target/etc/apt" && cp -a bin lib* "$target" || exit
echo whole > "$target/usr/share/whole"
[ -z "${{pack:-}}" ] || {{ tar -c -C "$target" . && rm -rf "$target"; }}
""",
    0o755,
)
shutil.copy(here / "archive/apt-get", world / "bin")

# The repository.
write(
    clone / "build-script-config/synchronization.sh",
    'mkdir -p "$2"; cmp -s /swift-build/core/libswiftCore.so "$2/libswiftSynchronization.so" || '
    'cp /swift-build/core/libswiftCore.so "$2/libswiftSynchronization.so"\n',
)
pins_file = clone / "build-script-config/sources.json"
pins = json.loads(pins_file.read_text())
digest = hashlib.sha256((archive / "swiftlang_6.2.3.orig.tar.xz").read_bytes()).hexdigest()
pins["distribution"]["orig_sha256"] = digest
pins["needs"]["disk_gb"] = 1e-6
pins_file.write_text(json.dumps(pins))
lay_series(clone, "one")
