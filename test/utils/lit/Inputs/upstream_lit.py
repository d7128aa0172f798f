"""Runs tests of this repository with upstream's own lit configuration.

usage: upstream_lit.py UPSTREAM-SWIFT OUR-TESTS STDLIBUNITTEST OUTPUT [--expand]

Runs inside the workspace (utils/with-runtime), on the runtime that LD_LIBRARY_PATH
names. OUTPUT gets a copy of our tests at the same paths of a mirror of upstream's
sources, and what a build of Swift would lay there: a site configuration with its
variables filled in, and a toolchain with StdlibUnittest and libdispatch.

--expand: run no test; fail those that use a substitution that upstream lacks.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from os.path import join

swift, ours, unittest, out = map(os.path.abspath, sys.argv[1:5])
libdir = os.environ.pop("LD_LIBRARY_PATH").split(":")[0]
target = json.loads(subprocess.check_output(["swiftc", "-print-target-info"]))
triple = target["target"]["triple"]
toolchain = os.path.dirname(os.path.dirname(target["paths"]["runtimeResourcePath"]))
llvm_tools = os.path.dirname(shutil.which("FileCheck"))


def mirror(source, place):
    """Links what is in `source` and not yet in `place`."""
    os.makedirs(place, exist_ok=True)
    for entry in os.listdir(source):
        if not os.path.lexists(join(place, entry)):
            os.symlink(join(source, entry), join(place, entry))


shutil.rmtree(out, ignore_errors=True)
copied = []
for part in ("Concurrency/Runtime", "Runtime"):
    if os.path.isdir(join(ours, part)):
        shutil.copytree(join(ours, part), join(out, "swift/test", part))
        copied += [join(part, name) for name in sorted(os.listdir(join(ours, part))) if name.endswith(".swift")]
        if os.path.isdir(join(swift, "test", part, "Inputs")):
            mirror(join(swift, "test", part, "Inputs"), join(out, "swift/test", part, "Inputs"))
mirror(join(swift, "test"), join(out, "swift/test"))
mirror(swift, join(out, "swift"))

build = join(out, "build")
for folder in (libdir, unittest, join(toolchain, "lib/swift/linux")):
    mirror(folder, join(build, "lib/swift/linux"))
for part in ("lib/swift", "lib", ""):
    mirror(join(toolchain, part), join(build, part))

dispatch = join(out, "dispatch")
module = join(dispatch, "src/swift/swift/Dispatch.swiftmodule")
os.makedirs(os.path.dirname(module))
os.symlink(join(toolchain, "lib/swift/linux/x86_64/Dispatch.swiftmodule"), module)
for name in ("libdispatch.so", "libswiftDispatch.so"):
    os.symlink(join(libdir, name), join(dispatch, name))
with open(join(dispatch, "dispatch-vfs-overlay.yaml"), "w") as overlay:
    overlay.write("{'version': 0, 'roots': []}\n")

values = {
    "CMAKE_COMMAND": "cmake",
    "CMAKE_BINARY_DIR": out,
    "LLVM_MAIN_SRC_DIR": out,
    "LLVM_BINARY_DIR": os.path.dirname(llvm_tools),
    "LLVM_TOOLS_DIR": llvm_tools,
    "LLVM_LIBS_DIR": llvm_tools,
    "SWIFT_SOURCE_DIR": join(out, "swift"),
    "SWIFT_BINARY_DIR": build,
    "LIT_SWIFTLIB_DIR": join(build, "lib"),
    "LLVM_TARGET_TRIPLE": triple,
    "VARIANT_TRIPLE": triple,
    "SWIFT_HOST_TRIPLE": triple,
    "VARIANT_SUFFIX": "-linux-x86_64",
    "SWIFT_TEST_RESULTS_DIR": join(out, "results"),
    "SWIFT_PATH_TO_LIBDISPATCH_BUILD": dispatch,
    "SWIFT_ENABLE_REFLECTION": "TRUE",
    "SWIFT_ENABLE_EXPERIMENTAL_CONCURRENCY": "TRUE",
    "SWIFT_ENABLE_SYNCHRONIZATION": "TRUE",
    "SWIFT_OPTIMIZED": "TRUE",
    "SWIFT_ANALYZE_CODE_COVERAGE": "FALSE",
    "SWIFT_STDLIB_MSVC_RUNTIME_LIBRARY": "MultiThreaded",
}
site = join(out, "site")
os.makedirs(site)
with open(join(swift, "test/lit.site.cfg.in")) as template, open(join(site, "lit.site.cfg"), "w") as config:
    config.write(re.sub(r"@(\w+)@", lambda name: values.get(name[1], ""), template.read()))
subprocess.run(
    [
        "clang",
        "-E",
        "-P",
        "-x",
        "c",
        "-I",
        join(swift, "include"),
        join(swift, "test/lit.swift-features.cfg.inc"),
        "-o",
        join(site, "lit.swift-features.cfg"),
    ],
    check=True,
)

options = []
if "--expand" in sys.argv:
    # lit gives each script to the bash that it finds; this one only looks for what is
    # left of the substitutions, and at commands that upstream forbids.
    stub = join(out, "stub", "bash")
    os.makedirs(os.path.dirname(stub))
    with open(stub, "w") as script:
        # An unknown %target-… is taken for %t, and text behind it.
        script.write("#!/bin/sh\n! grep -nE '%[A-Za-z{]|[.]tmp[A-Za-z]|[*]{3} (Use|Do not)' \"$1\" >&2\n")
    os.chmod(stub, 0o755)
    options = ["--path", os.path.dirname(stub)]
command = [
    "lit",
    "-v",
    "--show-unsupported",
    *options,
    "--param",
    "threading=linux",
    "--param",
    f"test_resource_dir={build}/lib/swift",
]
tests = [join(site, name) for name in copied]
environment = {**os.environ, "SWIFT_BACKTRACE": "enable=off", "PYTHONWARNINGS": "ignore"}


def unknown_features():
    """What our tests name that neither this configuration nor a test of upstream's has:
    misspelt in XFAIL or UNSUPPORTED it would go unnoticed."""
    suites = subprocess.run([*command, "--show-suites", *tests], env=environment, capture_output=True, text=True).stdout
    known = set(re.search(r"Available Features: (.*)", suites)[1].split())
    for name in copied:
        with open(join(out, "swift/test", name)) as test:
            lines = re.findall(r"(?:REQUIRES|UNSUPPORTED|XFAIL):(.*)", test.read())
        for feature in re.findall(r"[\w.=+-]+", " ".join(lines)):
            # test/README.md has the few that are ours.
            if not re.match("runtime_|without_|tsan$", feature) and feature not in known:
                pattern = rf"(REQUIRES|UNSUPPORTED|XFAIL):.*[ !(]{feature}([ ,)]|$)"
                if subprocess.run(["grep", "-rqE", pattern, join(swift, "test")]).returncode:
                    yield name, feature
                known.add(feature)


unknown = list(unknown_features())
for name, feature in unknown:
    print(f"{name}: upstream has no feature {feature}", flush=True)
status = subprocess.run([*command, *tests], env=environment, stderr=subprocess.DEVNULL).returncode
sys.exit(status or bool(unknown))
