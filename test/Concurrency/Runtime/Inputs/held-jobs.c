// Keeps the jobs that are enqueued on the global executor, so that no thread runs them.

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#define SWIFTCALL __attribute__((swiftcall))
typedef SWIFTCALL void EnqueueGlobal(void *job);
typedef SWIFTCALL void Hook(void *job, EnqueueGlobal *original);
typedef struct {
  void *identity;
  uintptr_t implementation;
} Executor;
typedef SWIFTCALL void DeinitWork(void *object);
extern SWIFTCALL void swift_task_enqueue(void *job, Executor executor);
extern SWIFTCALL void swift_task_deinitOnExecutor(void *object, DeinitWork *work,
                                                  Executor executor,
                                                  size_t flags);

enum { MaxHeld = 10000 };
static void *held[MaxHeld];
static EnqueueGlobal *originals[MaxHeld];
static int count;
static atomic_int isHolding;
static _Thread_local Executor target;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

SWIFTCALL static void hook(void *job, EnqueueGlobal *original) {
  if (!atomic_load(&isHolding))
    return original(job);
  if (target.identity) {
    Executor executor = target;
    target.identity = NULL;
    return swift_task_enqueue(job, executor);
  }
  pthread_mutex_lock(&lock);
  if (count == MaxHeld)
    abort();
  held[count] = job;
  originals[count++] = original;
  pthread_mutex_unlock(&lock);
}

/// From now on, what is enqueued is kept.
void holdJobs(void) {
  Hook **place = (Hook **)dlsym(RTLD_DEFAULT, "swift_task_enqueueGlobal_hook");
  *place = hook;
  atomic_store(&isHolding, 1);
}

/// The next job that this thread enqueues goes to this executor.
void enqueueNextJob(void *identity, uintptr_t implementation) {
  target = (Executor){identity, implementation};
}

SWIFTCALL static void countDeinit(void *counter) {
  atomic_fetch_add((atomic_long *)counter, 1);
}

/// The end of an object whose deinit is isolated to this executor. It adds one to
/// `counter`.
void deinitOn(void *identity, uintptr_t implementation, atomic_long *counter) {
  swift_task_deinitOnExecutor(counter, countDeinit,
                              (Executor){identity, implementation}, 0);
}

long deinitCount(atomic_long *counter) { return atomic_load(counter); }

/// Enqueues what was kept, and keeps nothing from now on.
void enqueueHeldJobs(void) {
  atomic_store(&isHolding, 0);
  pthread_mutex_lock(&lock);
  for (int i = 0; i < count; ++i)
    originals[i](held[i]);
  count = 0;
  pthread_mutex_unlock(&lock);
}
