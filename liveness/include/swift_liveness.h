//===--- swift_liveness.h - Which executor thread is stuck ------*- C++ -*-===//
//
// This source file is part of the Swift.org open source project
//
// Copyright (c) 2025 Apple Inc. and the Swift project authors
// Licensed under Apache License v2.0 with Runtime Library Exception
//
// See https://swift.org/LICENSE.txt for license information
// See https://swift.org/CONTRIBUTORS.txt for the list of Swift project authors
//
//===----------------------------------------------------------------------===//
//
// For C, C++ and Swift programs that want more of the liveness monitor than its
// environment variables give: marks and settings of their own, and answers.
// Copy this file. There is nothing to link: the runtime's functions are weak,
// and what needs the monitor's library loads it. On a runtime without it every
// function does nothing. All of them may be called on any thread: none waits for
// the monitor's, and that waits for none. They may be called under any lock, except
// those of the loader and the allocator: the first call that needs the
// library loads it; start and the first scope after it make threads; setCallback
// asks whose the callback is. forEachThread waits for names, up to 150 ms for each
// thread.
//
// Each struct begins with its size: set it to sizeof the struct before a call.
//
//===----------------------------------------------------------------------===//

#ifndef SWIFT_LIVENESS_H
#define SWIFT_LIVENESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a thread does, as far as marks tell.
enum {
  swift_liveness_idle = 0,  ///< in no job and in no scope
  swift_liveness_busy = 1,  ///< in a job or a scope
  swift_liveness_stuck = 2, ///< in the same one, without a mark, for too long
};

/// What the system says about a thread.
enum {
  swift_liveness_os_unknown = 0,
  swift_liveness_os_running = 1, ///< it uses a processor
  swift_liveness_os_blocked = 2, ///< it waits for something
  swift_liveness_os_starved = 3, ///< it could run, and gets no processor
};

/// What a report is about.
enum {
  swift_liveness_report_stuck = 0,
  swift_liveness_report_recovered = 1,
  swift_liveness_report_pool_stalled = 2, ///< the global pool takes no jobs
  swift_liveness_report_pool_recovered = 3,
};

/// What the monitor does about a stuck job, besides calling the callback.
enum {
  /// Reports after the timeout, and after 2, 4, 8, … times the timeout.
  swift_liveness_action_report = 0,
  swift_liveness_action_once = 1,  ///< a report of the first stuck job only
  swift_liveness_action_abort = 2, ///< a report, then abort()
  /// A report with the stack of the stuck thread, which is taken from outside.
  swift_liveness_action_backtrace = 3,
  swift_liveness_action_metrics = 4, ///< counts only; nothing is written
};

typedef struct swift_liveness_config {
  size_t size;
  uint32_t timeout_ms;  ///< 10 up to a day; 0: 1000
  uint32_t interval_ms; ///< between two looks; 0: a tenth of the timeout
  uint32_t action;      ///< one of swift_liveness_action_*
  uint32_t history;     ///< checkpoints kept of a thread, up to 4096; 0: 16.
                        ///< The first start in a process decides.
  uint32_t rate;        ///< reports in a second, for the process; 0: 10
  bool json;            ///< a JSON object a line
  bool quiet;           ///< nothing is written to stderr
  const char *ignore;   ///< as SWIFT_LIVENESS_IGNORE; null: nothing
} swift_liveness_config;

/// A thread at one moment. Text that is not known is empty.
typedef struct swift_liveness_thread {
  size_t size;
  uint32_t thread_id;   ///< as in /proc/self/task
  uint32_t activity;    ///< swift_liveness_idle …
  uint32_t os_state;    ///< swift_liveness_os_unknown …
  uint32_t priority;    ///< of the job, 0 outside of one
  uint64_t duration_ns; ///< since the monitor saw the last mark
  uint64_t task_id;     ///< 0 outside of a task
  const void *executor; ///< identity of the serial executor, null: the pool
  uint64_t checkpoints; ///< how many the thread has passed
  const char *thread_name;
  const char *scope;
  const char *task_name;
  const char *executor_type; ///< "module.Type", or "MainActor"
  const char *function;      ///< in which the job began this run
  const char *waits_in;      ///< where a blocked thread waits
} swift_liveness_thread;

typedef struct swift_liveness_report {
  size_t size;
  uint32_t kind; ///< swift_liveness_report_stuck …
  uint64_t duration_ns;
  const swift_liveness_thread *thread; ///< null in reports about the pool
  const uint64_t *checkpoints;         ///< its last ones, the oldest first
  size_t checkpoint_count;
  const char *text; ///< what is written to stderr
} swift_liveness_report;

typedef struct swift_liveness_counts {
  size_t size;
  uint32_t threads; ///< that have a record: they ran a job or a scope, and live
  uint32_t busy;
  uint32_t stuck;
  uint64_t reports; ///< of stuck jobs, since the process began
  uint64_t recoveries;
  uint64_t pool_stalls;
  uint64_t ignored;    ///< stuck jobs that SWIFT_LIVENESS_IGNORE names
  uint64_t suppressed; ///< reports beyond the rate
  uint64_t unwritten;  ///< reports that could not be written, or not called for
} swift_liveness_counts;

typedef void (*swift_liveness_callback)(const swift_liveness_report *report,
                                        void *context);
typedef void (*swift_liveness_visitor)(const swift_liveness_thread *thread,
                                       void *context);

/// The functions of libswift_Liveness.
typedef struct swift_liveness_functions {
  size_t size;
  bool (*start)(const swift_liveness_config *config);
  void (*stop)(void);
  void (*setCallback)(swift_liveness_callback callback, void *context);
  bool (*callbackIsRunning)(void);
  void (*forEachThread)(swift_liveness_visitor visitor, void *context);
  void (*getCounts)(swift_liveness_counts *counts);
  void (*check)(void);
  void (*listTasks)(void);
} swift_liveness_functions;

/// Where this thread's checkpoints go: for checkpoints without a call. Only for
/// the thread that asked, as long as it lives.
typedef struct swift_liveness_marks {
  uint64_t *count; ///< null: the monitor is off
  uint64_t *history;
  uint64_t mask; ///< of the place in the history
  uint64_t next; ///< what the count is, unless others count, too
} swift_liveness_marks;

// In libswift_Concurrency.

__attribute__((weak)) const void *swift_liveness_load(void);

/// Begins a named scope on this thread. Of nested scopes the outermost counts.
/// \param name lives until the scope ends.
/// \param timeout_ms 0: the monitor's.
/// \returns whether this scope counts. Give it to swift_liveness_scopeEnd.
__attribute__((weak)) bool swift_liveness_scopeBegin(const char *name,
                                                     uint32_t timeout_ms);
/// Ends a scope, on the thread where it began.
__attribute__((weak)) void swift_liveness_scopeEnd(bool counts);
/// Marks progress of this thread, and keeps `id` in its history.
__attribute__((weak)) void swift_liveness_checkpoint(uint64_t id);
/// Fills in `marks` for swift_liveness_mark.
__attribute__((weak)) void swift_liveness_getMarks(swift_liveness_marks *marks);

static inline const swift_liveness_functions *swift_liveness_getFunctions(void) {
  return swift_liveness_load
             ? (const swift_liveness_functions *)swift_liveness_load()
             : NULL;
}

/// Whether this process can have the monitor.
static inline bool swift_liveness_isAvailable(void) {
  return swift_liveness_checkpoint && swift_liveness_getFunctions();
}

/// Starts the monitor, or gives a running one new settings. Null: those of the
/// environment, or the defaults.
/// \returns false when a setting is out of its range, or there is no monitor.
static inline bool swift_liveness_start(const swift_liveness_config *config) {
  const swift_liveness_functions *monitor = swift_liveness_getFunctions();
  return monitor && monitor->start(config);
}

/// Afterwards a job costs one branch again.
static inline void swift_liveness_stop(void) {
  const swift_liveness_functions *monitor = swift_liveness_getFunctions();
  if (monitor)
    monitor->stop();
}

/// Sets the callback; null: none. It is called on a thread of its own, one call
/// at a time, and the report is gone afterwards. A child that it forks ends when
/// the callback returns in it. A call of the callback before
/// may still go on: see swift_liveness_callbackIsRunning. The library that holds
/// the callback stays loaded until the callback is another one and has ended.
static inline void swift_liveness_setCallback(swift_liveness_callback callback,
                                              void *context) {
  const swift_liveness_functions *monitor = swift_liveness_getFunctions();
  if (monitor)
    monitor->setCallback(callback, context);
}

static inline bool swift_liveness_callbackIsRunning(void) {
  const swift_liveness_functions *monitor = swift_liveness_getFunctions();
  return monitor && monitor->callbackIsRunning();
}

/// Calls the visitor, on this thread, for each thread that has a record.
static inline void swift_liveness_forEachThread(swift_liveness_visitor visitor,
                                                void *context) {
  const swift_liveness_functions *monitor = swift_liveness_getFunctions();
  if (monitor)
    monitor->forEachThread(visitor, context);
}

/// Fills in `counts`, whose size is set.
static inline void swift_liveness_getCounts(swift_liveness_counts *counts) {
  const swift_liveness_functions *monitor = swift_liveness_getFunctions();
  if (monitor)
    monitor->getCounts(counts);
}

/// Looks at all threads now, on this thread, as the monitor does at each
/// interval. Reports come from the monitor's thread.
static inline void swift_liveness_check(void) {
  const swift_liveness_functions *monitor = swift_liveness_getFunctions();
  if (monitor)
    monitor->check();
}

/// Has all live tasks written to stderr, as SWIFT_LIVENESS_SIGNAL does.
static inline void swift_liveness_listTasks(void) {
  const swift_liveness_functions *monitor = swift_liveness_getFunctions();
  if (monitor)
    monitor->listTasks();
}

/// As swift_liveness_checkpoint, without a call.
static inline void swift_liveness_mark(swift_liveness_marks *marks,
                                       uint64_t id) {
  if (!marks->count)
    return;
  uint64_t count = __atomic_load_n(marks->count, __ATOMIC_RELAXED);
  // The count in memory was stored a moment ago: what depends on loading it waits
  // for that store. So count on with the known value, and only check it.
  if (__builtin_expect(count != marks->next, 0)) {
    __asm__ volatile("" : "+r"(count)); // keep the branch
    marks->next = count;
  }
  __atomic_store_n(&marks->history[marks->next & marks->mask], id,
                   __ATOMIC_RELEASE);
  __atomic_store_n(marks->count, ++marks->next, __ATOMIC_RELEASE);
}

/// Copies this thread's last checkpoints, the oldest first.
/// \returns how many were copied.
static inline size_t swift_liveness_history(uint64_t *ids, size_t capacity) {
  swift_liveness_marks marks = {0, 0, 0, 0};
  if (swift_liveness_getMarks)
    swift_liveness_getMarks(&marks);
  size_t count = marks.count ? (size_t)marks.next : 0;
  if (count > marks.mask + 1)
    count = (size_t)marks.mask + 1;
  if (count > capacity)
    count = capacity;
  for (size_t i = 0; i != count; ++i)
    ids[i] = marks.history[(marks.next - count + i) & marks.mask];
  return count;
}

#ifdef __cplusplus
} // extern "C"

namespace swift {

/// A named scope of the C++ block that it is declared in.
class LivenessScope {
  bool Counts = false;
  swift_liveness_marks Marks = {};

public:
  /// \param enabled false: the scope does nothing.
  explicit LivenessScope(const char *name, uint32_t timeoutMs = 0,
                         bool enabled = true) {
    if (!enabled || !swift_liveness_scopeBegin)
      return;
    Counts = swift_liveness_scopeBegin(name, timeoutMs);
    swift_liveness_getMarks(&Marks);
  }
  ~LivenessScope() {
    if (Counts)
      swift_liveness_scopeEnd(true);
  }
  LivenessScope(const LivenessScope &) = delete;
  LivenessScope &operator=(const LivenessScope &) = delete;

  /// Whether this scope counts: the monitor is on, and no scope is around it.
  bool isEnabled() const { return Counts; }

  void checkpoint(uint64_t id) { swift_liveness_mark(&Marks, id); }
};

} // namespace swift
#endif // __cplusplus

#endif // SWIFT_LIVENESS_H
