// Hooks of the global executor, as a program in C sets them.

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

typedef __attribute__((swiftcall)) void (*EnqueueGlobal)(void *job);
extern __attribute__((swiftcall)) void (*swift_task_enqueueGlobal_hook)(
    void *job, EnqueueGlobal original);

static atomic_long seen;

static __attribute__((swiftcall)) void count(void *job, EnqueueGlobal original) {
  atomic_fetch_add(&seen, 1);
  original(job);
}

static void *held[100000];
static atomic_int heldCount;
static EnqueueGlobal originalEnqueue;

static __attribute__((swiftcall)) void hold(void *job, EnqueueGlobal original) {
  originalEnqueue = original;
  atomic_fetch_add(&seen, 1);
  held[atomic_fetch_add(&heldCount, 1)] = job;
}

static atomic_bool isBlocking;

/// Blocks once, for a second.
static __attribute__((swiftcall)) void block(void *job, EnqueueGlobal original) {
  atomic_fetch_add(&seen, 1);
  if (atomic_exchange(&isBlocking, false))
    usleep(1000000);
  original(job);
}

void hookBlock(void) {
  atomic_store(&isBlocking, true);
  swift_task_enqueueGlobal_hook = block;
}
int hookIsBlocking(void) { return !atomic_load(&isBlocking); }
void hookCount(void) { swift_task_enqueueGlobal_hook = count; }
void hookHold(void) { swift_task_enqueueGlobal_hook = hold; }
void hookRemove(void) { swift_task_enqueueGlobal_hook = NULL; }
long hookSeen(void) { return atomic_load(&seen); }

int hookRelease(void) {
  int count = atomic_exchange(&heldCount, 0);
  for (int i = 0; i < count; i++)
    originalEnqueue(held[i]);
  return count;
}
