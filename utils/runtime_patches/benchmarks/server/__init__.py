"""The server benchmark: what a server gains, seen by a load generator in a process of its own."""
