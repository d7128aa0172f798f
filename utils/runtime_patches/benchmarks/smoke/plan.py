"""How long run-smoke-bench measures."""

# A sample of 1 ms hides the driver's resolution of 1 us. Processes are short and many: how the
# scheduler places threads stays the same for tens of ms, so more samples of one process say little.
# The budget keeps the default run within some minutes.
PLAN = {
    "sample_us": 1000,
    "process_us": 16000,
    "most_samples": 16,
    "timeout": 120,
    "budget": 200,
    "fewest_rounds": 6,
    "most_rounds": 60,
    "copies": 3,
}
