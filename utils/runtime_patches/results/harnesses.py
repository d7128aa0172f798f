"""The harnesses: what else than the suite measures runtimes.

A harness NAME has its programs and its README in benchmark/NAME, its package in benchmarks/NAME, its tests in
test/benchmark/NAME, and its results in benchmark/results/MACHINE/NAME.json. benchmark/NAME/COMMAND starts the module
benchmarks/NAME/COMMAND.py.
"""

# {name: how the page calls it}, in the order of the page.
HARNESSES = {
    "deinit": "Deinit",
    "scaling": "Scaling",
    "teardown": "Teardown",
    "load": "Load",
    "liveness": "Liveness",
    "tracing": "Tracing",
    "executor": "Executor",
    "instructions": "Instruction counts",
    "server": "Server",
    "starts": "First times",
}
