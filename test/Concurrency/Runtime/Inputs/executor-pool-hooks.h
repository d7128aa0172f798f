// Hooks of the global executor, as a program in C sets them.

#ifndef EXECUTOR_POOL_HOOKS_H
#define EXECUTOR_POOL_HOOKS_H

/// From now on each job that is enqueued is counted, and enqueued as it would be.
void hookCount(void);
/// From now on jobs are counted, and kept, at most 100,000 of them.
void hookHold(void);
/// The next job that is enqueued blocks for a second there. Whether one has done so.
void hookBlock(void);
int hookIsBlocking(void);
void hookRemove(void);
/// How many jobs the hooks have seen.
long hookSeen(void);
/// Enqueues those that were kept as they would have been, and says how many there were.
int hookRelease(void);

#endif
