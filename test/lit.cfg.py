"""lit configuration of this repository's Swift tests, and of upstream's.

It is upstream's own configuration, swift/test/lit.cfg of the checkout, with the values that a CMake build of Swift
would fill in: a toolchain, a folder of runtime libraries and the checkout are lit parameters (README.md lists
them). So one test runs in both places. What follows upstream's is what it does not know: which runtime this is.
"""

import os
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import lit.formats

HERE = os.path.dirname(os.path.abspath(__file__))


def parameter(name, what, default=None):
    """The value of --param name; without a default a missing one is fatal."""
    value = lit_config.params.get(name) or default
    if value is None:
        lit_config.fatal(f"--param {name}=… is missing: {what} (test/README.md)")
    return value


def folder(name, what, **options):
    """The value of --param name, which must be an existing folder."""
    path = parameter(name, what, **options)
    if path and not os.path.isdir(path):
        lit_config.fatal(f"--param {name}: there is no folder {path} ({what})")
    return path and os.path.abspath(path)


def note(text):
    """Notes it once, although each suite of a run loads this file."""
    noted = lit_config.params.setdefault("noted", set())
    if text not in noted:
        noted.add(text)
        lit_config.note(text)


def tool(name, *others):
    """The path of a tool, which is noted; a missing one is fatal. Upstream's configuration finds it by a variable."""
    search = os.pathsep.join([os.path.join(toolchain, "bin"), config.environment["PATH"]])
    for candidate in (name, *others):
        if path := shutil.which(candidate, path=search):
            note(f"using {name}: {path}")
            os.environ[name.upper().replace("-", "_")] = path
            return path
    lit_config.fatal(f"{name} is not on PATH and not in {toolchain}/bin")
    return None


toolchain = folder("swift_toolchain", "the usr folder of a Swift toolchain")
# Where programs run elsewhere than they are compiled, target_lib is of a toolchain for that system.
own = os.path.join(folder("target_lib", "the lib folder of a toolchain", default=f"{toolchain}/lib"), "swift")
sysroot = folder("sysroot", "the system that programs are compiled against", default="")
runtime = parameter("runtime", "the name of the runtime under test")
usual = os.path.join(own, "linux") if runtime == "stock" else None
libdir = folder("runtime_libdir", "the lib/swift/linux folder of that runtime", default=usual)
swift = os.path.join(folder("checkout", "the folder that holds swift/"), "swift")
unittest = folder("unittest_dir", "the modules and libraries of StdlibUnittest", default="")
output = os.path.abspath(parameter("test_output", "the folder for what tests write"))
# test/upstream/…/lit.cfg.py sets this to the folder of the checkout that it stands for.
upstream = getattr(config, "upstream_folder", None)

# The compiler itself must not run on the library under test.
config.environment.pop("LD_LIBRARY_PATH", None)
compiler, clang = tool("swiftc"), tool("clang")
tools = os.path.dirname(tool("FileCheck", *(f"FileCheck-{n}" for n in range(30, 14, -1))))
triple = next(Path(own, "linux", "Swift.swiftmodule").glob("*.swiftmodule")).stem
note(f"testing runtime '{runtime}' in {libdir} for {triple}")


def resources():
    """A toolchain's lib/swift with the libraries under test and StdlibUnittest in it, made of links."""
    made = os.path.join(output, "resources")
    if "resources" not in lit_config.params:
        lit_config.params["resources"] = made
        shutil.rmtree(made, ignore_errors=True)
        os.makedirs(os.path.join(made, "linux"))
        for source in (libdir, unittest, os.path.join(own, "linux"), own):
            place = os.path.join(made, "" if source == own else "linux")
            for name in os.listdir(source) if source else ():
                if not os.path.lexists(os.path.join(place, name)):
                    os.symlink(os.path.join(source, name), os.path.join(place, name))
    return made


with open(os.path.join(libdir, "libswift_Concurrency.so"), "rb") as library:
    symbols = library.read()
sanitizers = [name for name, mark in (("address", b"__asan_init"), ("thread", b"__tsan_func_entry")) if mark in symbols]
if sanitizers:
    # A program needs the sanitizer that the library has; this compiler links it in.
    os.environ["SWIFTC"] = os.path.normpath(os.path.join(libdir, "..", "..", "..", "bin", "swiftc"))
    if not os.path.exists(os.environ["SWIFTC"]):
        lit_config.fatal(f"{os.environ['SWIFTC']} is missing: utils/build-runtime makes it")
# Only a compiler built with assertions takes such a feature.
asserts = not subprocess.run(
    [tool("swift-frontend"), *"-typecheck -parse-stdlib -enable-experimental-feature StaticAssert /dev/null".split()],
    stderr=subprocess.DEVNULL,
).returncode

values = {
    "CMAKE_COMMAND": "cmake",
    "CMAKE_BINARY_DIR": output,
    "CMAKE_C_COMPILER": clang,
    "LLVM_MAIN_SRC_DIR": os.path.join(swift, os.pardir, "llvm-project", "llvm"),
    "LLVM_BINARY_DIR": os.path.dirname(tools),
    "LLVM_TOOLS_DIR": tools,
    "LLVM_LIBS_DIR": tools,
    "SWIFT_SOURCE_DIR": swift,
    "SWIFT_BINARY_DIR": toolchain,
    "LIT_SWIFTLIB_DIR": os.path.join(toolchain, "lib"),
    "SWIFT_TEST_RESULTS_DIR": output,
    **dict.fromkeys(("LLVM_TARGET_TRIPLE", "VARIANT_TRIPLE", "SWIFT_HOST_TRIPLE"), triple),
    "VARIANT_SUFFIX": f"-linux-{triple.partition('-')[0]}",
    "SWIFT_SDKS": "LINUX",
    "SWIFT_ANALYZE_CODE_COVERAGE": "FALSE",
    "SWIFT_STDLIB_MSVC_RUNTIME_LIBRARY": "MultiThreaded",
    "SWIFT_OPTIMIZED": "TRUE",
    "SWIFT_ENABLE_REFLECTION": "TRUE",
    "SWIFT_ASAN_BUILD": "TRUE" if "address" in sanitizers else "",
    "LLVM_ENABLE_ASSERTIONS": "TRUE" if asserts else "",
    "SWIFT_BUILD_SWIFT_SYNTAX": "TRUE" if os.path.isdir(os.path.join(toolchain, "lib/swift/host/plugins")) else "",
}
for module, option in (
    ("_Concurrency", "SWIFT_ENABLE_EXPERIMENTAL_CONCURRENCY"),
    ("Distributed", "SWIFT_ENABLE_EXPERIMENTAL_DISTRIBUTED"),
    ("_StringProcessing", "SWIFT_ENABLE_EXPERIMENTAL_STRING_PROCESSING"),
    ("Observation", "SWIFT_ENABLE_EXPERIMENTAL_OBSERVATION"),
    ("_Volatile", "SWIFT_ENABLE_VOLATILE"),
    ("Synchronization", "SWIFT_ENABLE_SYNCHRONIZATION"),
    ("_Differentiation", "SWIFT_ENABLE_EXPERIMENTAL_DIFFERENTIABLE_PROGRAMMING"),
):
    values[option] = "TRUE" if os.path.exists(os.path.join(own, "linux", f"{module}.swiftmodule")) else ""

lit_config.params.setdefault("threading", "linux")
lit_config.params["test_resource_dir"] = resources()
# Upstream removes this cache each time it is loaded; a link stays.
cache = os.environ.get("CLANG_MODULE_CACHE_PATH") or os.path.join(output, "module-cache")
os.makedirs(cache, exist_ok=True)
link = os.path.join(output, "clang-module-cache")
if os.path.realpath(link) != os.path.realpath(cache):
    if os.path.lexists(link):
        os.unlink(link)
    os.symlink(cache, link)
if sysroot:
    os.environ["SWIFT_FRONTEND_TEST_OPTIONS"] = f" -sdk {sysroot} -Xcc --sysroot={sysroot}"
    os.environ["SWIFT_DRIVER_TEST_OPTIONS"] = (
        f"{os.environ['SWIFT_FRONTEND_TEST_OPTIONS']} -use-ld=lld -Xclang-linker --sysroot={sysroot}"
    )
features = [clang, "-E", "-P", "-x", "c", "-I", os.path.join(swift, "include")]
features.append(os.path.join(swift, "test", "lit.swift-features.cfg.inc"))
with open(os.path.join(swift, "test", "lit.site.cfg.in")) as template:
    site = re.sub(r"@(\w+)@", lambda name: values.get(name[1], ""), template.read())
# It names each tool that it finds, and warns of each that it does not: most are for tests of the compiler.
lit_config.note = lit_config.warning = lambda text: None
config.test_exec_root = os.path.join(output, "swift" if upstream else "ours", upstream or "test")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    exec(site.partition("# Let the main config do the real work")[0])
    exec(subprocess.check_output(features, text=True))
    lit_config.load_config(config, os.path.join(swift, "test", "lit.cfg"))
del lit_config.note, lit_config.warning


def adapted(text):
    """Upstream's substitution for this run: a command for a system elsewhere is started by `runner`."""
    if sysroot:
        text = text.replace(config.target_clang, f"{config.target_clang} --sysroot={sysroot} -fuse-ld=lld")
    return text.replace(config.target_run, config.target_run + lit_config.params.get("runner", ""))


config.substitutions = [
    # Newer versions of lit than upstream's take a text literally, also where it refers to a part of the name.
    (name, (SubstituteCaptures if not isinstance(text, str) or r"\1" in text else str)(adapted(str(text))))
    for name, text in config.substitutions
]

config.suffixes = [".swift", ".sil", ".gyb", ".c", ".cpp", ".test", ".test-sh"]
config.excludes = ["Inputs"]
config.name = f"Swift {upstream}" if upstream else "runtime-patches"
config.test_source_root = os.path.join(swift, upstream) if upstream else HERE
if upstream:
    from upstream_test import UpstreamTest, reasons  # in formats/, on PYTHONPATH

    config.test_format = UpstreamTest(upstream, reasons(runtime.rpartition("-")[2]))
else:
    config.test_format = lit.formats.ShTest(execute_external=True)
    config.excludes += ["upstream", "utils", "benchmark", "models"]
if upstream == "test":
    config.excludes += ["Unit"]
    # apply-patches lays our tests there too; they run from here, once.
    for place, _, files in os.walk(HERE):
        there = os.path.join(swift, upstream, os.path.relpath(place, HERE))
        config.excludes += [
            f for f in files if os.path.splitext(f)[1] in config.suffixes and os.path.exists(os.path.join(there, f))
        ]
if lit_config.maxIndividualTestTimeIsSupported[0]:
    lit_config.maxIndividualTestTime = int(parameter("timeout", "", default="300"))
else:
    note("no timeout for a test: the Python module psutil is missing")

# The backtracer needs a working runtime: with a broken one it hangs, and holds lit's pipe.
config.environment["SWIFT_BACKTRACE"] = "enable=off"
# A report fails the test. Without this, it would only be printed.
config.environment["UBSAN_OPTIONS"] = "halt_on_error=1:print_stacktrace=1"
# The pool begins with new threads in the child of a fork, which ThreadSanitizer takes as the end of the child.
config.environment["TSAN_OPTIONS"] = f"suppressions='{os.path.join(HERE, 'tsan-suppressions.txt')}':die_after_fork=0"
# The default unwinder finds more frames, but it can crash itself where the runtime has crashed: a report without a
# stack. with-runtime keeps the default.
config.environment["ASAN_OPTIONS"] = "fast_unwind_on_fatal=1"
# AddressSanitizer counts leaks, too.
config.environment["LSAN_OPTIONS"] = (
    f"suppressions='{os.path.join(HERE, 'lsan-suppressions.txt')}':print_suppressions=0"
)
# What the tests are to run with, as in SWIFT_POOL=1,NAME=VALUE.
for setting in filter(None, lit_config.params.get("environment", "").split(",")):
    name, _, value = setting.partition("=")
    config.environment[name] = value

# What upstream's does not know: which runtime this is, and which patches it lacks.
config.available_features |= {"runtime_" + runtime.replace(":", "-"), "SWIFT_SDK=linux", "target-same-as-host"}
for name in ("without", "features"):
    prefix = "without_" if name == "without" else ""
    config.available_features.update(prefix + word for word in lit_config.params.get(name, "").split(",") if word)
if "thread" in sanitizers:
    config.available_features.add("tsan")
if "address" not in sanitizers and any(Path(toolchain).glob("lib/clang/*/lib/*/libclang_rt.tsan*.a")):
    # Upstream's configuration looks for it in another folder. What it lacks on Debian is in variants.py.
    config.available_features.add("tsan_runtime")
    config.substitutions.insert(
        0, ("-sanitize=thread", "-sanitize=thread -Xlinker --defsym=_ZN11__sanitizer16struct_termio_szE=0")
    )
if lit_config.params.get("emulated"):
    config.available_features.add("emulated")
if len(os.sched_getaffinity(0)) == 1:
    config.available_features.add("one_processor")
real_time = "import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))"
if subprocess.run([sys.executable, "-c", real_time], stderr=subprocess.DEVNULL).returncode:
    config.available_features.add("no_real_time_threads")
if not upstream and os.path.exists(os.path.join(own, "linux", "Foundation.swiftmodule")):
    # For upstream's tests it is a Foundation that was built with Swift.
    config.available_features.add("foundation")
if os.path.exists(os.path.join(libdir, "libdispatch.so")):
    config.available_features.add("libdispatch")
