#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "deinit-modes.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SWIFTCALL __attribute__((swiftcall))
#define SWIFTASYNC __attribute__((swiftasynccall))
#define ASYNC_CONTEXT __attribute__((swift_async_context))
#define SELF __attribute__((swift_context))

/// TaskDeinitFlags::CopyTaskLocals of the runtime.
enum { CopyTaskLocals = 1 };

typedef struct {
  void *identity;
  uintptr_t implementation;
} Executor;

typedef struct AsyncContext AsyncContext;
// In such a function, `return f(...)` of another such function is a tail call.
typedef SWIFTASYNC void Continuation(ASYNC_CONTEXT AsyncContext *);

struct AsyncContext {
  AsyncContext *parent;
  Continuation *resumeParent;
};

/// What swiftc emits for an async function `f` under the name `fTu`.
typedef struct {
  int32_t relativeFunction;
  uint32_t contextSize;
} AsyncFunctionPointer;

typedef SWIFTCALL void DeinitWork(void *object);
typedef SWIFTCALL void DeinitOnExecutor(void *object, DeinitWork *work,
                                        Executor executor, size_t flags);
typedef SWIFTCALL void DeinitAsync(void *object,
                                   const AsyncFunctionPointer *work,
                                   Executor executor, size_t flags);
typedef SWIFTASYNC void AsyncBody(void *object, ASYNC_CONTEXT AsyncContext *,
                                  SELF const void *context);

// The runtime.
extern SWIFTCALL Executor swift_task_getCurrentExecutor(void);
extern SWIFTASYNC void swift_task_switch(ASYNC_CONTEXT AsyncContext *,
                                         Continuation *, Executor executor);
extern void *swift_task_alloc(size_t size);
extern void swift_task_dealloc(void *ptr);
extern SWIFTCALL void *swift_task_localValueGet(const void *key);
extern SWIFTCALL void swift_task_localValuePush(const void *key, void *value,
                                                const void *type);
extern SWIFTCALL void swift_task_localValuePop(void);
extern SWIFTCALL void swift_job_run(void *job, Executor executor);
typedef SWIFTCALL void EnqueueGlobal(void *job);
extern SWIFTCALL void (*swift_task_enqueueGlobal_hook)(void *job,
                                                       EnqueueGlobal *original);
extern const char intMetadata[] __asm__("$sSiN");

static DeinitOnExecutor *deinitOnExecutor;
static DeinitAsync *deinitAsync;
static atomic_int currentMode;
typedef int Chooser(void *object);
static _Atomic(Chooser *) chooser;

__attribute__((constructor)) static void findRuntime(void) {
  deinitOnExecutor =
      (DeinitOnExecutor *)dlsym(RTLD_NEXT, "swift_task_deinitOnExecutor");
  deinitAsync = (DeinitAsync *)dlsym(RTLD_NEXT, "swift_task_deinitAsync");
}

__attribute__((noreturn)) static void fail(const char *message) {
  fprintf(stderr, "error: deinit-modes: %s\n", message);
  abort();
}

// ==== What the class of an object does at its end ============================

// The async function of swift_task_deinitAsync gets the object only, so the
// work is looked up by class. A hash table with open addressing that only
// grows: an entry is written under the lock and published by its key.
typedef struct {
  _Atomic(const void *) isa;
  _Atomic(DeinitWork *) work;
  AsyncBody *bodyFunction;
  uint32_t bodyContextSize;
  const void *bodyContext;
} ClassEntry;

enum { ClassCount = 1024 };
static ClassEntry classes[ClassCount];
static pthread_mutex_t classesLock = PTHREAD_MUTEX_INITIALIZER;

/// The entry of the class, or the free entry where it belongs.
static ClassEntry *classEntry(const void *isa) {
  for (size_t i = ((uintptr_t)isa >> 4) % ClassCount, n = 0; n < ClassCount;
       i = (i + 1) % ClassCount, n++) {
    const void *key =
        atomic_load_explicit(&classes[i].isa, memory_order_acquire);
    if (!key || key == isa)
      return &classes[i];
  }
  fail("too many classes");
}

static const void *isaOf(void *object) { return *(const void **)object; }

static void noteWork(void *object, DeinitWork *work) {
  ClassEntry *entry = classEntry(isaOf(object));
  if (atomic_load_explicit(&entry->work, memory_order_relaxed) == work)
    return;
  pthread_mutex_lock(&classesLock);
  entry = classEntry(isaOf(object));
  DeinitWork *known = atomic_load_explicit(&entry->work, memory_order_relaxed);
  if (known && known != work)
    fail("a class has two isolated deinits");
  atomic_store_explicit(&entry->work, work, memory_order_relaxed);
  atomic_store_explicit(&entry->isa, isaOf(object), memory_order_release);
  pthread_mutex_unlock(&classesLock);
}

void deinit_set_async_body(const void *isa, const void *function,
                           const void *context) {
  const AsyncFunctionPointer *pointer = function;
  pthread_mutex_lock(&classesLock);
  ClassEntry *entry = classEntry(isa);
  entry->bodyFunction =
      (AsyncBody *)((intptr_t)&pointer->relativeFunction +
                    pointer->relativeFunction);
  entry->bodyContextSize = pointer->contextSize;
  entry->bodyContext = context;
  atomic_store_explicit(&entry->isa, isa, memory_order_release);
  pthread_mutex_unlock(&classesLock);
}

// ==== The async deinit of every class ========================================

typedef struct {
  AsyncContext base;
  void *object;
  Executor executor;
} DeinitContext;

// What the compiler would emit for `deinit async { await body() }`: the body,
// a hop back to the executor of the deinit, then the end of the object.

SWIFTASYNC static void finishDeinit(ASYNC_CONTEXT AsyncContext *base) {
  DeinitContext *context = (DeinitContext *)base;
  ClassEntry *entry = classEntry(isaOf(context->object));
  atomic_load_explicit(&entry->work, memory_order_relaxed)(context->object);
  return base->resumeParent(base);
}

SWIFTASYNC static void afterBody(ASYNC_CONTEXT AsyncContext *callee) {
  DeinitContext *context = (DeinitContext *)callee->parent;
  swift_task_dealloc(callee);
  return swift_task_switch(&context->base, finishDeinit,
                                    context->executor);
}

SWIFTASYNC void deinit_modes_work(ASYNC_CONTEXT AsyncContext *base,
                                  SELF void *object) {
  DeinitContext *context = (DeinitContext *)base;
  context->object = object;
  ClassEntry *entry = classEntry(isaOf(object));
  if (!entry->bodyFunction)
    return finishDeinit(base);

  context->executor = swift_task_getCurrentExecutor();
  AsyncContext *callee = swift_task_alloc(entry->bodyContextSize);
  callee->parent = base;
  callee->resumeParent = afterBody;
  return entry->bodyFunction(object, callee, entry->bodyContext);
}

// C has no expression for a relative address.
_Static_assert(sizeof(DeinitContext) <= 48, "the size given below");
__asm__(".pushsection .data.rel.ro,\"aw\"\n"
        ".p2align 2\n"
        "deinit_modes_workTu:\n"
        ".long deinit_modes_work - .\n"
        ".long 48\n"
        ".popsection\n");
extern const AsyncFunctionPointer deinit_modes_workTu
    __attribute__((visibility("hidden")));

// ==== The function that the compiler calls ===================================

SWIFTCALL void swift_task_deinitOnExecutor(void *object, DeinitWork *work,
                                           Executor executor, size_t flags) {
  Chooser *choose = atomic_load_explicit(&chooser, memory_order_acquire);
  switch (choose ? choose(object)
                 : atomic_load_explicit(&currentMode, memory_order_relaxed)) {
  case DEINIT_MODE_RESET:
    return deinitOnExecutor(object, work, executor, flags);
  case DEINIT_MODE_COPY:
    return deinitOnExecutor(object, work, executor, flags | CopyTaskLocals);
  case DEINIT_MODE_ASYNC:
    noteWork(object, work);
    return deinitAsync(object, &deinit_modes_workTu, executor, flags);
  case DEINIT_MODE_ASYNC_COPY:
    noteWork(object, work);
    return deinitAsync(object, &deinit_modes_workTu, executor,
                       flags | CopyTaskLocals);
  }
}

// ==== Whether the runtime has a mode =========================================

static _Thread_local int isProbing;
static _Thread_local void *probeJob;
static _Thread_local int probeSawValue;
static SWIFTCALL void (*previousHook)(void *job, EnqueueGlobal *original);
static const void *probeKey[2];

SWIFTCALL static void probeEnqueue(void *job, EnqueueGlobal *original) {
  if (isProbing)
    probeJob = job;
  else if (previousHook)
    previousHook(job, original);
  else
    original(job);
}

SWIFTCALL static void probeWork(void *object) {
  (void)object;
  probeSawValue = swift_task_localValueGet(probeKey) != NULL;
}

/// Bind a task-local, let a deinit hop to the generic executor, keep its job,
/// end the binding, run the job: it sees the value if the job has a copy.
static void *probeCopying(void *unused) {
  (void)unused;
  const Executor generic = {NULL, 0};
  intptr_t value = 1;
  isProbing = 1;
  previousHook = swift_task_enqueueGlobal_hook;
  swift_task_enqueueGlobal_hook = probeEnqueue;
  swift_task_localValuePush(probeKey, &value, intMetadata);
  deinitOnExecutor(probeKey, probeWork, generic, CopyTaskLocals);
  swift_task_localValuePop();
  swift_task_enqueueGlobal_hook = previousHook;
  isProbing = 0;
  if (probeJob)
    swift_job_run(probeJob, generic);
  return (void *)(intptr_t)probeSawValue;
}

static int hasCopying;
static pthread_once_t hasCopyingOnce = PTHREAD_ONCE_INIT;

// On a thread of its own, which has neither a task nor an executor.
static void findCopying(void) {
  pthread_t thread;
  void *result = NULL;
  if (pthread_create(&thread, NULL, probeCopying, NULL) != 0)
    fail("no thread to try copying on");
  pthread_join(thread, &result);
  hasCopying = result != NULL;
}

int deinit_mode_supported(int mode) {
  switch (mode) {
  case DEINIT_MODE_RESET:
    return deinitOnExecutor != NULL;
  case DEINIT_MODE_COPY:
    pthread_once(&hasCopyingOnce, findCopying);
    return hasCopying;
  case DEINIT_MODE_ASYNC:
  case DEINIT_MODE_ASYNC_COPY:
    return deinitAsync != NULL;
  default:
    return 0;
  }
}

void deinit_set_mode(int mode) {
  if (!deinit_mode_supported(mode))
    fail("the loaded runtime lacks the mode");
  atomic_store_explicit(&currentMode, mode, memory_order_relaxed);
}

void deinit_set_chooser(int (*choose)(void *object)) {
  atomic_store_explicit(&chooser, choose, memory_order_release);
}
