"""Tools that build, test and compare the Swift runtime with and without the patch series."""
