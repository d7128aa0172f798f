// Code of a program that waits where it is given a task.

#include "sleep-hook.h"
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

typedef __attribute__((swiftcall)) void (*EnqueueGlobal)(void *job);
extern __attribute__((swiftcall)) void (*swift_task_enqueueGlobal_hook)(
    void *job, EnqueueGlobal original);

static atomic_bool isOpen;
static atomic_int here, met;

void startMeeting(void) {
  atomic_store(&here, 0);
  atomic_store(&met, 0);
  atomic_store(&isOpen, true);
}

void meet(void) {
  if (!atomic_load(&isOpen))
    return;
  atomic_fetch_add(&here, 1);
  // Nobody waits for longer than two seconds.
  for (int i = 0; i < 2000 && atomic_load(&isOpen); ++i) {
    if (atomic_load(&here) >= 2) {
      atomic_fetch_add(&met, 1);
      return;
    }
    usleep(1000);
  }
  // One that comes later has missed it.
  atomic_store(&isOpen, false);
}

static __attribute__((swiftcall)) void meetAndEnqueue(void *job,
                                                      EnqueueGlobal original) {
  meet();
  original(job);
}

void setMeetingHook(void) { swift_task_enqueueGlobal_hook = meetAndEnqueue; }

bool endMeeting(void) {
  swift_task_enqueueGlobal_hook = NULL;
  atomic_store(&isOpen, false);
  return atomic_load(&met) >= 2;
}
