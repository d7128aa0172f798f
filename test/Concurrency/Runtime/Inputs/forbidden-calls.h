/// From now on system calls fail in all threads of this process, by a filter as containers have: "none", "scheduler",
/// "priorities", "files" or "futexes".
void forbidCalls(const char *which);
