// Counts the futex system calls of the process, for tests of what waits how.

#ifndef FUTEX_CALLS_H
#define FUTEX_CALLS_H

/// How many futex system calls the process has made by syscall() with this operation,
/// as <linux/futex.h> numbers them, or with any if it is negative.
long futexCalls(int operation);

#endif
