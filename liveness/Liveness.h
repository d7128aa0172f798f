//===--- Liveness.h - Which executor thread is stuck ------------*- C++ -*-===//
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
// The C and C++ interface of the liveness monitor in libswift_Concurrency.
//
// The runtime marks the begin and the end of every job on every executor. A
// monitor thread reports a job that keeps its thread longer than a timeout. A
// program needs none of the functions below for that: the environment variable
// SWIFT_LIVENESS_TIMEOUT turns the monitor on. They add marks of the program's
// own, and ways to ask.
//
// For a client the functions are weak: a program that calls them through the
// checks of `swift_liveness_isAvailable` or `swift::LivenessScope` also runs on
// a runtime without the monitor. Every function may be called on any thread.
//
//===----------------------------------------------------------------------===//

#ifndef SWIFT_RUNTIME_LIVENESS_H
#define SWIFT_RUNTIME_LIVENESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__linux__) && !defined(__ANDROID__)

#ifdef SWIFT_LIVENESS_IMPLEMENTATION
#define SWIFT_LIVENESS_API __attribute__((visibility("default")))
#else
#define SWIFT_LIVENESS_API __attribute__((weak))
#endif

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
  /// No thread of the global pool took a new job for the timeout.
  swift_liveness_report_pool_stalled = 2,
  swift_liveness_report_pool_recovered = 3,
};

/// What the monitor does about a stuck job, besides calling the callback.
enum {
  swift_liveness_action_report = 0, ///< one report for each
  swift_liveness_action_once = 1,   ///< a report of the first one only
  swift_liveness_action_abort = 2,  ///< a report, then abort()
  /// A report with the stack of the stuck thread. It is taken by a signal, which
  /// interrupts a system call of that thread.
  swift_liveness_action_backtrace = 3,
};

typedef struct swift_liveness_config {
  /// Milliseconds, 10 up to a day; 0: 1000.
  uint32_t timeout_ms;
  /// Milliseconds between two looks; 0: a quarter of the timeout.
  uint32_t interval_ms;
  /// One of swift_liveness_action_*.
  uint32_t action;
  /// How many checkpoints are kept for a thread, 1 up to 4096, rounded up to a
  /// power of two; 0: 16. The first start in a process decides.
  uint32_t history;
  /// Nothing is written to stderr.
  bool quiet;
} swift_liveness_config;

/// A thread at one moment. Text that does not fit is cut; text that is not known
/// is empty.
typedef struct swift_liveness_thread {
  uint32_t thread_id; ///< as in /proc/self/task
  uint32_t activity;  ///< swift_liveness_idle ...
  uint32_t os_state;  ///< swift_liveness_os_unknown ...
  uint32_t priority;  ///< of the job, 0 outside of one
  uint64_t duration_ns; ///< since the monitor saw the last mark of this thread
  uint64_t task_id;     ///< 0 outside of a task
  const void *executor; ///< identity of the serial executor, null: the pool
  uint64_t checkpoints; ///< how many the thread has passed
  char thread_name[16];
  char scope[64];
  char task_name[64];
  char executor_type[64]; ///< "module.Type" of the actor or executor
  char function[256];     ///< in which the job began this run, demangled
  char waits_in[64];      ///< where a blocked thread waits
} swift_liveness_thread;

typedef struct swift_liveness_report {
  uint32_t kind; ///< swift_liveness_report_stuck ...
  uint64_t duration_ns;
  const swift_liveness_thread *thread; ///< null in reports about the pool
  const uint64_t *checkpoints;         ///< its last ones, the oldest first
  size_t checkpoint_count;
  const char *text; ///< what is written to stderr
} swift_liveness_report;

typedef struct swift_liveness_counts {
  uint32_t threads; ///< that have a record: they ran a job or a scope and live
  uint32_t busy;
  uint32_t stuck;
  uint64_t reports; ///< of stuck jobs, since the process began
  uint64_t recoveries;
  uint64_t pool_stalls;
} swift_liveness_counts;

/// Where this thread's checkpoints go: for a checkpoint without a call. Only for
/// the thread that asked, as long as it lives.
typedef struct swift_liveness_marks {
  uintptr_t *count; ///< null: the monitor is off
  uint64_t *history;
  uintptr_t mask; ///< of the place in the history
  uintptr_t next; ///< what the count is, unless others count, too
} swift_liveness_marks;

/// Called on the monitor's thread. What `report` points to is gone afterwards.
typedef void (*swift_liveness_callback)(const swift_liveness_report *report,
                                        void *context);

/// Starts the monitor, or gives a running one new settings (for jobs that begin
/// later). Null: the environment's settings, or the defaults.
/// \returns false when a setting is out of its range, or no thread can be made.
SWIFT_LIVENESS_API
bool swift_liveness_start(const swift_liveness_config *config);

/// Stops the monitor. Afterwards a job costs one branch again.
SWIFT_LIVENESS_API
void swift_liveness_stop(void);

/// Sets the callback; null: none. When this returns on another thread than the
/// monitor's, the callback before it has finished.
SWIFT_LIVENESS_API
void swift_liveness_setCallback(swift_liveness_callback callback,
                                void *context);

/// Begins a named scope on this thread. Of nested scopes the outermost counts.
/// \param name lives until the scope ends.
/// \param timeout_ms 0: the monitor's.
/// \returns whether this scope counts. Give it to swift_liveness_scopeEnd.
SWIFT_LIVENESS_API
bool swift_liveness_scopeBegin(const char *name, uint32_t timeout_ms);

/// Ends a scope, on the thread where it began.
SWIFT_LIVENESS_API
void swift_liveness_scopeEnd(bool counts);

/// Marks progress of this thread, and keeps `id` in its history.
SWIFT_LIVENESS_API
void swift_liveness_checkpoint(uint64_t id);

/// Fills in `marks` for swift_liveness_mark.
SWIFT_LIVENESS_API
void swift_liveness_getMarks(swift_liveness_marks *marks);

/// Copies this thread's last checkpoints, the oldest first.
/// \returns how many were copied.
SWIFT_LIVENESS_API
size_t swift_liveness_history(uint64_t *ids, size_t capacity);

/// Copies the state of every thread that has a record.
/// \returns how many there are; more than `capacity` were not copied.
SWIFT_LIVENESS_API
size_t swift_liveness_snapshot(swift_liveness_thread *threads, size_t capacity);

SWIFT_LIVENESS_API
void swift_liveness_getCounts(swift_liveness_counts *counts);

/// Looks at all threads now, on this thread, as the monitor does at each
/// interval. Reports come from here, too.
SWIFT_LIVENESS_API
void swift_liveness_check(void);

/// Whether the runtime of this process has the monitor.
static inline bool swift_liveness_isAvailable(void) {
#ifdef SWIFT_LIVENESS_IMPLEMENTATION
  return true;
#else
  return swift_liveness_checkpoint != NULL;
#endif
}

/// As swift_liveness_checkpoint, in 2/3 of its time when `marks` is a local.
static inline void swift_liveness_mark(swift_liveness_marks *marks,
                                       uint64_t id) {
  if (!marks->count)
    return;
  uintptr_t count = __atomic_load_n(marks->count, __ATOMIC_RELAXED);
  // The count in memory was stored a moment ago: what depends on loading it waits
  // for that store. So count on with the known value, and only check it.
  if (__builtin_expect(count != marks->next, 0)) {
    __asm__ volatile("" : "+r"(count)); // keep the branch
    marks->next = count;
  }
  __atomic_store_n(&marks->history[marks->next & marks->mask], id,
                   __ATOMIC_RELAXED);
  __atomic_store_n(marks->count, ++marks->next, __ATOMIC_RELEASE);
}

#ifdef __cplusplus
} // extern "C"

namespace swift {

/// A named scope of the C++ block that it is declared in.
class LivenessScope {
  bool Counts;
  swift_liveness_marks Marks;

public:
  /// \param enabled false: the scope does nothing.
  explicit LivenessScope(const char *name, uint32_t timeoutMs = 0,
                         bool enabled = true)
      : Counts(enabled && swift_liveness_isAvailable() &&
               swift_liveness_scopeBegin(name, timeoutMs)),
        Marks() {
    if (enabled && swift_liveness_isAvailable()) {
      swift_liveness_marks marks;
      swift_liveness_getMarks(&marks);
      Marks = marks;
    }
  }

  ~LivenessScope() {
    if (Counts)
      swift_liveness_scopeEnd(true);
  }

  LivenessScope(const LivenessScope &) = delete;
  LivenessScope &operator=(const LivenessScope &) = delete;

  /// Whether this scope counts: the monitor is on, and no scope is around it.
  bool isEnabled() const { return Counts; }

  /// Marks progress of the thread, as swift_liveness_checkpoint does.
  void checkpoint(uint64_t id) { swift_liveness_mark(&Marks, id); }
};

} // namespace swift
#endif // __cplusplus

#endif // defined(__linux__) && !defined(__ANDROID__)

#endif // SWIFT_RUNTIME_LIVENESS_H
