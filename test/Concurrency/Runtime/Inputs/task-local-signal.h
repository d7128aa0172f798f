// A signal handler that reads task-local values.

#ifndef TASK_LOCAL_SIGNAL_H
#define TASK_LOCAL_SIGNAL_H

/// Let a timer interrupt this thread all the time, with a handler that looks for the
/// values of `keys`: each is a word and holds 1000 + its index, and none is visible when the
/// one before it is not.
void startSignals(const void *const *keys, long count);

/// End that.
void stopSignals(void);

/// How often the handler was called, and how often it saw something else.
long signalCount(void);
long wrongCount(void);

#endif
