"""Python's `imp` module, removed since 3.12, as far as upstream's run_smoke_bench needs it."""

import importlib.machinery
import importlib.util
import sys


def load_source(name, path):
    """Loads the file `path`, whatever its ending, as the module `name`."""
    loader = importlib.machinery.SourceFileLoader(name, path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    sys.modules[name] = module
    loader.exec_module(module)
    return module
