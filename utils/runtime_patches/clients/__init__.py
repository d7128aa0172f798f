"""Packages that others wrote, as judges of a runtime: their tests are built once and run on several runtimes."""
