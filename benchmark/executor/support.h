// What the rows need of the machine, and Swift cannot reach by itself.

#ifndef EXECUTOR_SUPPORT_H
#define EXECUTOR_SUPPORT_H

#include "machine.h"

/// The processor time of this process, and of this thread, in nanoseconds.
uint64_t executor_process_time(void);
uint64_t executor_thread_time(void);

/// The largest resident set so far, in bytes.
uint64_t executor_most_memory(void);

/// Waits some cycles without leaving the processor.
void executor_pause(void);

#endif
