"""lit configuration of the command-line tools' own tests, which run on the host.

`utils/run-test` gives the parameters; a plain `lit test/utils` works too, and then
leaves out the tests that need the workspace.
"""

import glob
import os
import shlex
import shutil
import sys
import tempfile

from quoted_paths import QuotedPathsTest  # in formats/, on PYTHONPATH

HERE = os.path.dirname(os.path.abspath(__file__))
REPO = os.path.dirname(os.path.dirname(HERE))
SMOKE = os.path.join(os.path.dirname(HERE), "benchmark", "smoke", "Inputs")
# test/benchmark/lit.cfg.py names its own folder.
suite = getattr(config, "tools_suite", "utils")


def note(text):
    """Notes which tests of this folder are left out; other suites, which load this file, have none of them."""
    if suite == "utils":
        lit_config.note(text)


parameters = lit_config.params
output = parameters.get("test_output") or os.path.join(tempfile.gettempdir(), f"lit-tools-{os.getuid()}")

config.name = "tools" if suite == "utils" else suite
config.test_source_root = os.path.join(os.path.dirname(HERE), suite)
config.test_exec_root = os.path.join(os.path.abspath(output), config.name)
kept = parameters.get("kept") or os.path.join(REPO, "build", "report")
config.test_format = QuotedPathsTest(execute_external=True, kept=kept)
config.suffixes = [".test"]
config.excludes = ["Inputs", "lit_shims"]

# As a user has it, apart from what would change the tools' output or git's repository.
config.environment = {
    name: value for name, value in os.environ.items() if not name.startswith("GIT_") and name != "PYTHONPATH"
}
config.environment["COLUMNS"] = "80"
# For the programs in Inputs; the commands themselves do not look at it.
config.environment["PYTHONPATH"] = os.pathsep.join([os.path.join(REPO, "utils"), os.path.join(HERE, "Inputs"), SMOKE])

config.available_features.add("shell")
config.available_features.add("root" if os.geteuid() == 0 else "plain_user")
if "filecheck" in parameters:
    config.available_features.add("workspace")
    config.available_features.add("runtime_" + parameters.get("runtime", "").replace(":", "-"))
    config.available_features.update(f"without_{slug}" for slug in parameters.get("without", "").split(",") if slug)
    if parameters.get("runtime", "").rpartition("-")[2] in ("asan", "tsan"):
        # Programs without a sanitizer, as all benchmarks are, cannot load such libraries.
        config.available_features.add("instrumented")
config.available_features.update(feature for feature in parameters.get("features", "").split(",") if feature)
for architecture in ("x86_64", "arm64"):
    if glob.glob(os.path.join(REPO, "build", "package", f"*-{architecture}.tar.gz")):
        config.available_features.add(f"package_{architecture}")
    else:
        note(f"tests of packed libraries for {architecture} are left out: utils/package has not been run for it")
if shutil.which("qemu-aarch64-static"):
    config.available_features.add("qemu")
chromium = os.environ.get("CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome"))), None
)
if chromium:
    config.available_features.add("chromium")
else:
    note("tests in a browser are left out: no chromium on PATH, nor in $CHROMIUM")
perfetto = os.path.join(REPO, "build", "perfetto", "bin", "python")
if os.path.exists(perfetto):
    config.available_features.add("perfetto")
else:
    note("the test with Perfetto's own definitions is left out: .ci/run installs them in build/perfetto")
if lit_config.maxIndividualTestTimeIsSupported[0]:
    lit_config.maxIndividualTestTime = int(parameters.get("timeout", "300"))

config.recursiveExpansionLimit = 3
config.substitutions += [
    (r"%empty-directory\(([^)]+)\)", SubstituteCaptures(r"rm -rf \1 && mkdir -p \1")),
    ("%{workspace-options}", parameters.get("workspace_options", "")),
    ("%{checkout}", shlex.quote(parameters.get("checkout", ""))),
    ("%{perfetto}", shlex.quote(perfetto)),
    ("%{chromium}", shlex.quote(chromium or "")),
    ("%{runtime}", parameters.get("runtime", "after")),
    ("%python", shlex.quote(sys.executable)),
    ("%{repo}", shlex.quote(REPO)),
    ("%{kept}", shlex.quote(kept)),
    ("%{make-results}", f"{shlex.quote(sys.executable)} -B " + shlex.quote(os.path.join(SMOKE, "make_results.py"))),
    ("%{smoke-inputs}", shlex.quote(SMOKE)),
    ("%{Inputs}", shlex.quote(os.path.join(HERE, "Inputs"))),
    ("%FileCheck", parameters.get("filecheck", "FileCheck")),
]
