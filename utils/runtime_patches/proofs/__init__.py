"""Which suites ran whole, on which variant of the runtime, at which state of the series."""
