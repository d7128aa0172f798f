// Code of a program that waits where it is given a task.

#ifndef SLEEP_HOOK_H
#define SLEEP_HOOK_H

#include <stdbool.h>

/// From now on the first two that call meet() wait for each other.
void startMeeting(void);
void meet(void);
/// Meet whenever a job is enqueued on the global executor.
void setMeetingHook(void);
/// Whether two have met.
bool endMeeting(void);

#endif
