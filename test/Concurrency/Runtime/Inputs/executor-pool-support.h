// What tests of the global executor's threads need of Linux, and Swift cannot reach.

#ifndef EXECUTOR_POOL_SUPPORT_H
#define EXECUTOR_POOL_SUPPORT_H

#include <stdint.h>

/// The monotonic clock in nanoseconds.
uint64_t nowInNanoseconds(void);

/// The processor time of all threads of this process, in nanoseconds.
uint64_t processorTime(void);

/// How many processors this thread may use.
int processorCount(void);

/// Lets this thread, and those that it makes, use `count` of the processors only that the first call has found.
void useProcessors(int count);

/// The kernel's number of this thread.
int threadNumber(void);

/// How many threads this process has.
int threadCount(void);

/// How many threads of this process run jobs of the pool, by their names.
int poolThreadCount(void);

/// How many threads of this process have this nice value.
int threadsOfNiceness(int value);

/// Sends a signal to each thread of this process but this one.
void signalThreads(int signal);

/// The timer slack of this thread in nanoseconds, which what it spawns inherits.
int timerSlack(void);

/// The size of this thread's stack.
uint64_t stackSize(void);

/// Whether this thread blocks a signal.
int blocksSignal(int signal);

/// The resident memory of this process in KB.
long residentMemory(void);

/// fork(), which the C library's module does not let Swift see.
int forkProcess(void);

/// quick_exit().
void exitQuickly(int status);

/// Starts `words` in a new process by fork and exec, and returns its exit status, or
/// -1 if a signal ended it.
int runProcess(const char *const *words);

/// Waits for a child: its exit status, or minus the signal that ended it.
int waitForChild(int child);

/// A number in memory that this process shares with the children that it forks.
int64_t *sharedNumbers(int count);
int64_t addToShared(int64_t *number, int64_t value);

/// From now on pthread_create of this process succeeds `count` times, and then fails
/// with EAGAIN. -1: it never fails.
void allowThreads(int count);

/// How many times pthread_create has failed that way.
int refusedThreads(void);

/// Ends the process with status 99, and a word about where, unless it is called again
/// within `seconds`.
void watch(const char *place, int seconds);

#endif
