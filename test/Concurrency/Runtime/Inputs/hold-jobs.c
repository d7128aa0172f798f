// Keeps the jobs of the global executor back, as long as that is wanted.

#include "hold-jobs.h"
#include <stdatomic.h>
#include <stddef.h>

typedef __attribute__((swiftcall)) void (*EnqueueGlobal)(void *job);
extern __attribute__((swiftcall)) void (*swift_task_enqueueGlobal_hook)(
    void *job, EnqueueGlobal original);

static void *held[MOST_HELD_JOBS];
static atomic_int heldCount;
static EnqueueGlobal originalEnqueue;

static __attribute__((swiftcall)) void hold(void *job, EnqueueGlobal original) {
  originalEnqueue = original;
  held[atomic_fetch_add(&heldCount, 1)] = job;
}

void holdJobs(void) { swift_task_enqueueGlobal_hook = hold; }

int releaseJobs(void) {
  swift_task_enqueueGlobal_hook = NULL;
  int count = atomic_exchange(&heldCount, 0);
  for (int i = 0; i < count; i++)
    originalEnqueue(held[i]);
  return count;
}
