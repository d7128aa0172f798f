"""Traces of Swift concurrency: reads what the runtime's recorder writes, and shows it.

header reads what the host needs of a file, recording all of it; lives pairs its events into runs and waits; summary and
table are what people read first; timeline is what the writers for viewers (perfetto, chrome) share. numpy is the
workspace's, so all but header and counters run inside it.
"""
