"""Traces of Swift concurrency: reads what the runtime's recorder writes, and shows it.

recording reads the file; lives pairs its events into runs and waits; summary and table are what people read first;
timeline is what the writers for viewers (perfetto, chrome) share. numpy is the workspace's, so these run inside it.
"""
