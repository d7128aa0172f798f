"""lit configuration of this repository's Swift tests, and of upstream's.

It needs no CMake build of Swift: a 6.2.3 toolchain, a folder of runtime libraries
and (for upstream's tests and for StdlibUnittest) a checkout are given as lit
parameters; README.md lists them. Substitutions and features have upstream's names
and meaning (docs/Testing.md there), so that one test runs in both places.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

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
    """The path of a tool, which is noted; a missing one is fatal."""
    for candidate in (name, *others):
        path = shutil.which(candidate, path=config.environment["PATH"])
        if path:
            note(f"using {name}: {path}")
            return path
    lit_config.fatal(f"{name} is not on PATH and not in {toolchain}/bin")
    return None


# Where things are.

toolchain = folder("swift_toolchain", "the usr folder of a Swift toolchain")
resources = os.path.join(toolchain, "lib", "swift")
stock = os.path.join(resources, "linux")
runtime = parameter("runtime", "the name of the runtime under test")
libdir = folder(
    "runtime_libdir", "the lib/swift/linux folder of that runtime", default=stock if runtime == "stock" else None
)
checkout = folder("checkout", "the folder that holds swift/", default="")
unittest = folder("unittest_dir", "the modules and libraries of StdlibUnittest", default="")
output = os.path.abspath(parameter("test_output", "the folder for what tests write"))
swift = os.path.join(checkout, "swift") if checkout else ""
test_mode = parameter("swift_test_mode", "", default="optimize_none")

# test/upstream/…/lit.cfg.py sets this to the folder of the checkout that it stands for.
upstream = getattr(config, "upstream_folder", None)
if upstream and not checkout:
    lit_config.fatal("--param checkout=… is missing: upstream's tests are in a checkout")

config.name = f"Swift {upstream}" if upstream else "runtime-patches"
config.test_source_root = os.path.join(swift, upstream) if upstream else HERE
config.test_exec_root = os.path.join(output, "swift" if upstream else "ours", upstream or "test")
if upstream:
    from upstream_test import UpstreamTest, reasons  # in formats/, on PYTHONPATH

    config.test_format = UpstreamTest(upstream, reasons(runtime.rpartition("-")[2]))
else:
    config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".swift", ".sil", ".gyb", ".c", ".cpp", ".test", ".test-sh"]
config.excludes = ["Inputs"]
if upstream == "test":
    config.excludes += ["Unit"]
    # apply-patches lays our tests there too; they run from here, once.
    for place, _, files in os.walk(HERE):
        there = os.path.join(swift, upstream, os.path.relpath(place, HERE))
        config.excludes += [
            f for f in files if os.path.splitext(f)[1] in config.suffixes and os.path.exists(os.path.join(there, f))
        ]
elif not upstream:
    config.excludes += ["upstream", "utils", "benchmark", "models"]

if lit_config.maxIndividualTestTimeIsSupported[0]:
    lit_config.maxIndividualTestTime = int(parameter("timeout", "", default="300"))
else:
    note("no timeout for a test: the Python module psutil is missing")

# The environment. The compiler itself must not run on the library under test.

config.environment["PATH"] = os.pathsep.join([os.path.join(toolchain, "bin"), os.environ.get("PATH", os.defpath)])
config.environment.pop("LD_LIBRARY_PATH", None)
config.environment["PYTHONIOENCODING"] = "UTF8"
config.environment["SWIFT_DETERMINISTIC_HASHING"] = "1"
config.environment["SWIFT_DEBUG_ENABLE_MALLOC_SCRIBBLE"] = "YES"
config.environment["SWIFT_DEBUG_ENABLE_COW_CHECKS"] = "false"
# The backtracer needs a working runtime: with a broken one it hangs, and holds lit's pipe.
config.environment["SWIFT_BACKTRACE"] = "enable=off"
# A report fails the test. Without this, it would only be printed.
config.environment["UBSAN_OPTIONS"] = "halt_on_error=1:print_stacktrace=1"
config.environment["TSAN_OPTIONS"] = f"suppressions='{os.path.join(HERE, 'tsan-suppressions.txt')}'"
# AddressSanitizer counts leaks, too.
config.environment["LSAN_OPTIONS"] = (
    f"suppressions='{os.path.join(HERE, 'lsan-suppressions.txt')}':print_suppressions=0"
)
# What the tests are to run with, as in SWIFT_POOL=1,NAME=VALUE.
for setting in filter(None, lit_config.params.get("environment", "").split(",")):
    name, _, value = setting.partition("=")
    config.environment[name] = value

# Tools.

config.python = shlex.quote(sys.executable)
config.swiftc = tool("swiftc")
config.swift_frontend = tool("swift-frontend")
config.clang = tool("clang")
config.clangxx = tool("clang++")
config.filecheck = tool("FileCheck", *(f"FileCheck-{n}" for n in range(30, 14, -1)))
config.environment["SWIFT_DRIVER_CLANG_EXEC"] = config.clang
config.environment["SWIFT_DRIVER_CLANGXX_EXEC"] = config.clangxx

target = json.loads(subprocess.check_output([config.swiftc, "-print-target-info"]))
config.variant_triple = target["target"]["triple"]
cpu, vendor, system = re.match(r"([^-]+)-([^-]+)-([^0-9]+)", config.variant_triple).groups()
note(f"testing runtime '{runtime}' in {libdir} for {config.variant_triple}")

# Features: those that upstream's build would tell, probed instead.


def module(name):
    return os.path.exists(os.path.join(stock, name + ".swiftmodule"))


def sanitizers():
    """What the Concurrency library under test was instrumented with."""
    with open(os.path.join(libdir, "libswift_Concurrency.so"), "rb") as library:
        symbols = library.read()
    return [name for name, mark in (("address", b"__asan_init"), ("thread", b"__tsan_init")) if mark in symbols]


features = config.available_features
features.update(
    {
        "shell",
        "crash-recovery",
        "objc_codegen",
        "swift_in_compiler",
        "cplusplus_driver",
        "no_lto",
        "swift_stdlib_no_asserts",
        "optimized_stdlib",
        f"optimized_stdlib_{cpu}",
        "reflection",
        "swift_only_stable_abi",
        "threading_linux",
        "thread_safe_runtime",
        "autolink-extract",
        "target-same-as-host",
        f"CPU={cpu}",
        f"OS={system}",
        f"VENDOR={vendor}",
        "OS_FAMILY=linux",
        "OS_BINFMT=elf",
        "PTRSIZE=64",
        "SWIFT_VERSION=4",
        "SWIFT_SDK=linux",
        f"STDLIB_VARIANT=linux-{cpu}",
    }
)
for name, feature in (
    ("_Concurrency", "concurrency"),
    ("Distributed", "distributed"),
    ("_StringProcessing", "string_processing"),
    ("Observation", "observation"),
    ("_Volatile", "volatile"),
    ("Synchronization", "synchronization"),
    ("_Differentiation", "differentiable_programming"),
):
    if module(name):
        features.add(feature)
if "concurrency" in features:
    features.add("concurrency_runtime")
if os.path.exists(os.path.join(libdir, "libdispatch.so")):
    features.add("libdispatch")
if os.path.isdir(os.path.join(resources, "host", "plugins")):
    features.add("swift_swift_parser")

# Only a compiler built with assertions takes such a feature; upstream runs tests of
# language features that are not released, and of -swift-version 7, on that alone.
asserts = not subprocess.run(
    [config.swift_frontend, "-typecheck", "-parse-stdlib", "-enable-experimental-feature", "StaticAssert", os.devnull],
    stderr=subprocess.DEVNULL,
).returncode
features.update({"asserts", "swift7"} if asserts else {"no_asserts"})

config.sanitizers = sanitizers()
features.add("asan" if "address" in config.sanitizers else "no_asan")
if "thread" in config.sanitizers:
    features.add("tsan")

modes = {
    "optimize_none": "",
    "optimize": "-O",
    "optimize_size": "-Osize",
    "optimize_unchecked": "-Ounchecked",
    "with_cxx_interop": "-cxx-interoperability-mode=default",
}
if test_mode not in modes:
    lit_config.fatal(f"--param swift_test_mode: unknown mode {test_mode}; known are {', '.join(modes)}")
features.add("executable_test")
if test_mode == "with_cxx_interop":
    features.add(test_mode)
else:
    features.update({f"swift_test_mode_{test_mode}", f"swift_test_mode_{test_mode}_{cpu}"})
if test_mode in ("optimize_none", "with_cxx_interop"):
    features.add("nonexecutable_test")

# What is ours: which runtime this is, and which patches it lacks.
features.add("runtime_" + runtime.replace(":", "-"))
if runtime == "stock":
    features.add("runtime_before")
features.update("without_" + slug for slug in lit_config.params.get("without", "").split(",") if slug)
features.update(f for f in lit_config.params.get("features", "").split(",") if f)

# Language features: upstream lists them in a C preprocessor file that makes Python.
config.existing_swift_features = set()
feature_list = os.path.join(swift, "test", "lit.swift-features.cfg.inc")
if checkout and os.path.exists(feature_list):
    exec(
        subprocess.check_output(
            [config.clang, "-E", "-P", "-x", "c", "-I", os.path.join(swift, "include"), feature_list], text=True
        ),
        {"config": config},
    )

# Commands.

config.clang_module_cache_path = os.path.join(output, "module-cache")
cache = f"-module-cache-path {config.clang_module_cache_path}"
config.resource_dir_opt = ""
language = "-swift-version 4"


def availability(name, option):
    """A response file with upstream's `SwiftStdlib` versions: a few hundred words, which
    would hide the rest of a command in the output of a failed test."""
    macros = os.path.join(swift, "utils", "availability-macros.def")
    if not checkout or not os.path.exists(macros):
        return ""
    with open(macros) as lines:
        text = [line.split("#")[0].strip() for line in lines]
    path = os.path.join(output, name)
    os.makedirs(output, exist_ok=True)
    with open(path, "w") as response:
        response.writelines(f'{option} "{line}"\n' for line in text if line)
    return "@" + path


frontend_availability = availability("availability-frontend", "-define-availability")
driver_availability = availability("availability-driver", "-Xfrontend -define-availability -Xfrontend")

search = f"-I {unittest} -L {unittest}" if unittest else ""
# Not only LD_LIBRARY_PATH: a program that a test starts bare must not fall back on
# the toolchain's own libraries.
runpath = f"-no-toolchain-stdlib-rpath -Xlinker -rpath -Xlinker {libdir}"
compiler = config.swiftc
if config.sanitizers:
    # A program needs the sanitizer that the library has; this compiler links it in.
    compiler = os.path.normpath(os.path.join(libdir, "..", "..", "..", "bin", "swiftc"))
    if not os.path.exists(compiler):
        lit_config.fatal(f"{compiler} is missing: utils/build-runtime makes it")

config.target_build_swift = " ".join(
    [
        compiler,
        "-target",
        config.variant_triple,
        runpath,
        search,
        cache,
        language,
        driver_availability,
        modes[test_mode],
    ]
)
config.target_swift_frontend = " ".join(
    [
        config.swift_frontend,
        "-target",
        config.variant_triple,
        f"-I {unittest}" if unittest else "",
        cache,
        language,
        frontend_availability,
        "-typo-correction-limit 10 ",
    ]
)
config.target_swiftc_driver = " ".join(
    [config.swiftc, "-target", config.variant_triple, runpath, cache, driver_availability]
)
config.target_clang = (
    f"{config.clangxx} -target {config.variant_triple} -fPIE -fmodules-cache-path={config.clang_module_cache_path}"
)
config.target_codesign = "echo"
config.target_run = "/usr/bin/env LD_LIBRARY_PATH='" + ":".join(filter(None, [libdir, unittest])) + "' "

run_filecheck = f"{config.filecheck} --allow-unused-prefixes"
if checkout:
    sanitize = os.path.join(swift, "utils", "PathSanitizingFileCheck")
    run_filecheck = (
        f"{config.python} {sanitize} --allow-unused-prefixes --sanitize BUILD_DIR={output} "
        f"--sanitize SOURCE_DIR={swift} --ignore-runtime-warnings "
        f"--use-filecheck {config.filecheck}"
    )

# Read by the lit.local.cfg files of upstream's folders.
config.variant_sdk = ""
config.target_sdk_name = "linux"
config.swift_obj_root = output
config.swiftlib_dir = os.path.join(toolchain, "lib")
config.swift_utils = os.path.join(swift, "utils")
config.cmake_c_compiler = config.clang
config.c_flags = config.exe_linker_flags = ""
config.swift_refactor = config.refactor_check_compiles = ""
config.sourcekitd_test = config.complete_test = ""

# Substitutions. A value may hold others: lit expands until nothing changes.

config.recursiveExpansionLimit = 6
inputs = os.path.join(swift, "test", "Inputs", "clang-importer-sdk")


def captures(text):
    return SubstituteCaptures(text)


def run_simple(source, options, build="", run="{run}"):
    """Compile one file, run what comes out; \\1 of the name are compiler options."""
    return (
        f"%empty-directory(%t) && %target-build-swift {source} {options} "
        f"-o %t/a.out -module-name main {build} && %target-codesign %t/a.out && "
        + run.format(run="%target-run %t/a.out")
    )


gyb = "%empty-directory(%t) && %gyb %s -o %t/main.swift && "
access = "-Xfrontend -disable-access-control"
simple = {
    "%target-run-simple-swift": ("", "%s", "", "{run}"),
    "%target-run-stdlib-swift": ("", "%s", access, "{run}"),
    "%target-fail-simple-swift": ("", "%s", "", "{{ ! {run}; }}"),
    "%target-run-simple-swiftgyb": (gyb, "%t/main.swift", "", "{run}"),
    "%target-run-stdlib-swiftgyb": (gyb, "%t/main.swift", access, "{run}"),
}
known = {}
for name, (first, source, build, run) in simple.items():
    for suffix, options in ((r"\(([^)]+)\)", r"\1"), ("", "")):
        text = run_simple(source, options, build, run)
        if first:
            text = first + text.replace("%empty-directory(%t) && ", "")
        known[name + suffix] = captures(text) if suffix else text

known.update(
    {
        r"%empty-directory\(([^)]+)\)": captures(r'rm -rf "\1" && mkdir -p "\1"'),
        r"%hardlink-or-copy\(from: *(.*), *to: *(.*)\)": captures(r"ln \1 \2 || cp \1 \2"),
        r"%target-library-name\(([^)]+)\)": captures(r"lib\1.so"),
        r"%target-static-library-name\(([^)]+)\)": captures(r"lib\1.a"),
        r"%target-rpath\(([^)]+)\)": captures(r"-Xlinker -rpath -Xlinker \1"),
        r"%target-build-swift-dylib\(([^)]+)\)": captures(
            r"%target-build-swift -parse-as-library -emit-library -o '\1'"
        ),
        r"%target-swift-frontend\(mock-sdk:([^)]+)\)": captures(r"%target-swift-frontend \1 "),
        r"%target-swift-emit-module-interface\(([^)]+)\)": captures(
            r"%target-swift-frontend -swift-version 5 -enable-library-evolution "
            r"-parse-as-library -typecheck -emit-module-interface-path \1"
        ),
        r"%target-swift-typecheck-module-from-interface\(([^)]+)\)": captures(
            r"%target-swift-frontend -swift-version 5 -enable-library-evolution "
            r"-typecheck-module-from-interface \1"
        ),
        "%target-typecheck-verify-swift": "%target-swift-frontend -typecheck -verify "
        "-disable-objc-attr-requires-foundation-module %s",
        "%target-swift-emit-silgen": "%target-swift-frontend -emit-silgen",
        "%target-swift-emit-sil": "%target-swift-frontend -emit-sil",
        "%target-swift-emit-ir": "%target-swift-frontend -emit-ir",
        "%target-swift-frontend": config.target_swift_frontend,
        "%target-swiftxx-frontend": "%target-swift-frontend -cxx-interoperability-mode=default",
        "%target-swiftc_driver": config.target_swiftc_driver,
        "%target-stdlib-swiftc_driver": config.target_swiftc_driver,
        "%target-build-swift": config.target_build_swift,
        "%target-clang": config.target_clang,
        "%target-clangxx": config.target_clang + " -std=c++11",
        "%target-codesign": config.target_codesign,
        "%target-run": config.target_run,
        "%target-not-crash": "not --crash",
        "%target-triple": config.variant_triple,
        "%target-future-triple": config.variant_triple,
        "%target-stable-abi-triple": config.variant_triple,
        "%target-pre-stable-abi-triple": config.variant_triple,
        "%target-next-stable-abi-triple": config.variant_triple,
        r"%target-swift-[0-9.]+-abi-triple": config.variant_triple,
        "%target-abi-stability": "unstable",
        "%target-arch": cpu,
        "%target-cpu": cpu,
        "%target-os": system,
        "%target-os-abi": system,
        "%target-vendor": vendor,
        "%target-ptrsize": "64",
        "%target-endian": "little",
        "%target-alignment": "8",
        "%target-runtime": "native",
        "%target-objc-interop": "nonobjc",
        "%target-ptrauth": "noptrauth",
        "%target-sdk-name": "linux",
        "%target-object-format": "elf",
        "%target-is-simulator": "false",
        "%is-darwin": "isNotDarwin",
        "%target-pic-opt": "-fPIC",
        "%target-rtti-opt": "-fno-rtti",
        "%target-cxx-lib": "-lstdc++",
        "%target-cc-options": "-fPIE",
        "%target-threading-opt": "-DSWIFT_THREADING_LINUX=1",
        "%target-sanitizer-opt": f"-fsanitize={','.join(config.sanitizers)}" if config.sanitizers else "",
        "%target-swiftmodule-name": config.variant_triple + ".swiftmodule",
        "%module-target-triple": config.variant_triple,
        "%module-target-future": config.variant_triple,
        "%{target-shared-library-prefix}": "lib",
        "%{target-shared-library-suffix}": ".so",
        "%host-build-swift": config.target_build_swift + f" -I {resources}/host -L {resources}/host",
        "%host_triple": config.variant_triple,
        "%host_sdk": "/",
        "%swiftc_driver_plain": config.swiftc,
        "%swift_frontend_plain": config.swift_frontend,
        "%swiftc_driver": config.target_swiftc_driver,
        "%swift-path": os.path.join(toolchain, "bin", "swift"),
        "%swift-bin-dir": os.path.join(toolchain, "bin"),
        "%swift-lib-dir": os.path.join(toolchain, "lib"),
        "%swift-share-dir": os.path.join(toolchain, "share"),
        "%swift-plugin-dir": os.path.join(resources, "host", "plugins"),
        "%swift-plugin-server": os.path.join(toolchain, "bin", "swift-plugin-server"),
        "%swift-demangle": os.path.join(toolchain, "bin", "swift-demangle"),
        "%swift_src_root": swift,
        "%swift_obj_root": output,
        "%stdlib_dir": stock,
        "%platform-module-dir": stock,
        "%test-resource-dir": resources,
        "%target-swift-autolink-extract": os.path.join(toolchain, "bin", "swift-autolink-extract"),
        "%target-swift-modulewrap": f"{config.swift_frontend} -modulewrap -target " + config.variant_triple,
        "%mcp_opt": cache,
        "%clang": f"{config.clang} -fmodules-cache-path={config.clang_module_cache_path}",
        "%clangxx": f"{config.clangxx} -fmodules-cache-path={config.clang_module_cache_path}",
        "%clang-importer-sdk-path": inputs,
        "%clang-importer-sdk-nosource": f"-sdk {inputs}",
        "%clang-importer-sdk": f"-enable-source-import -sdk {inputs} -I {inputs}/swift-modules ",
        "%import-libdispatch": "",
        "%import-static-libdispatch": "",
        "%FileCheck": run_filecheck,
        "%raw-FileCheck": config.filecheck,
        "%utils": config.swift_utils,
        "%gyb": f"{config.python} {config.swift_utils}/gyb.py",
        "%line-directive": f"{config.python} {config.swift_utils}/line-directive",
        "%python": config.python,
        "%{python}": config.python,
        "%{python.unquoted}": sys.executable,
        "%validate-json": f"{config.python} -m json.tool",
        "%env-": "",
        "%enable-cow-checking": "SWIFT_DEBUG_ENABLE_COW_CHECKS=true;",
        "%diff": "diff",
        "%long-tmp": "%t",
        "%original_path_env": os.environ.get("PATH", ""),
    }
)
for tail in ("without-job", "typealias-struct-job", "consuming-job-param", "owned-job-param"):
    name = f"concurrency-{tail}"
    known[f"%clang-importer-sdk-{name}"] = f"-enable-source-import -sdk {inputs} -I {inputs}/swift-modules-{name} "
    known[f"%clang-importer-sdk-{name}-path"] = inputs
    known[f"%clang-importer-sdk-{name}-nosource"] = f"-sdk {inputs}"
for name in (
    "llvm-nm",
    "llvm-readelf",
    "llvm-objdump",
    "llvm-size",
    "llvm-strings",
    "llvm-dwarfdump",
    "llvm-profdata",
    "llvm-cov",
    "llvm-dis",
):
    known[f"%{name}"] = name

# A name that begins with another one must be tried before it.
config.substitutions += sorted(known.items(), key=lambda item: -len(item[0]))
