// Without an import: its linker finds the C library's round() nevertheless.
print((Double(CommandLine.argc) / 2).rounded())
