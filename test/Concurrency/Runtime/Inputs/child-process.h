// Runs a function in a forked child, for tests of how a process ends.

#ifndef CHILD_PROCESS_H
#define CHILD_PROCESS_H

/// What became of a child: its exit status, or 0 when a signal ended it.
typedef struct {
  int status;
  /// The number of the signal, or 0. SIGALRM: it took more than a minute.
  int signal;
  /// The number of bytes that it wrote to standard error.
  long errorCount;
} ChildResult;

/// Call `body` in a forked child and wait for the child. It exits with what `body`
/// returns. The calling process must not have used dispatch, which would not work
/// in the child.
ChildResult runChild(int (*body)(const void *context), const void *context);

#endif
