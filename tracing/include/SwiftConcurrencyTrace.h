//===--- SwiftConcurrencyTrace.h - The files of the recorder ------*- C -*-===//
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
// What libswift_Trace writes, as C structs: this is the specification of the
// file. All numbers have the byte order of the machine that wrote the file.
//
//   0            swift_trace_header, then zeroes up to header_size
//   header_size  chunks of chunk_size bytes each, up to the end of the file
//
// A chunk is swift_trace_chunk and then words of 64 bits, up to its end. Chunks
// stand in no order. What a chunk's words are depends on its type; a chunk whose
// magic is 0 is free, and is skipped. The file may be cut anywhere: a chunk that
// is cut has the events that are whole.
//
// EVENTS. A chunk of events is filled from its front by one thread at a time.
// The first word of an event tells what, how long and when, and the further ones
// are its arguments:
//
//   bits  0 to  7  kind: one of swift_trace_*, and swift_trace_joined. 0: the
//                  chunk ends here, whatever follows
//   bits  8 to 11  size: words of the event with this one, 1 to 15. A reader
//                  skips kinds that it does not know, and further words of those
//                  that it knows
//   bits 12 to 23  arg: what the kind says
//   bits 24 to 63  time: ticks since the chunk's time base
//
// The first word of an event is stored last. So an event that is there is whole,
// in the file of a process that was killed, too. Times of one chunk do not go
// back, except at a time base (see swift_trace_time).
//
// THREADS. A chunk begins on the thread in its header. swift_trace_thread in it
// says that from here on another thread writes: the first one has exited. The
// chunks of one ring follow each other by `index`; if a number is missing, that
// chunk was written over. Only one thread at a time writes into a ring.
//
// TWO EVENTS IN ONE. With swift_trace_joined, a kind stands for two events of one
// time, of which the second has no words of its own:
//
//   swift_trace_task_create, then swift_trace_enqueue_global of this task
//   swift_trace_task_resume, then swift_trace_enqueue_global of this task
//   swift_trace_task_wait, then swift_trace_run_end
//
// ORDER. Events of one ring stand in the order in which they happened. Those of
// different rings are sorted by their time; counters of processors agree to some
// 100 ns, so a cause may come shortly after its effect.
//
// WHO. A task has its ID, which no other task of the process gets. Other things
// have their address, which is used again after the event that ends them. Where
// an argument is a job, it is the ID of a task, or, with the bit
// swift_trace_not_task of arg, the address of a job of another kind.
//
// THE TASK OF A THREAD. swift_trace_run begins a job on the thread and
// swift_trace_run_end ends the last one that has begun. They nest. The events
// between them are those of that task. `running` of the chunk is the task that
// runs where the chunk begins.
//
//===----------------------------------------------------------------------===//

#ifndef SWIFT_CONCURRENCY_TRACE_H
#define SWIFT_CONCURRENCY_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SWIFT_TRACE_MAGIC "SwiftTrc" /* 8 bytes, without a 0 */
#define SWIFT_TRACE_VERSION 2
#define SWIFT_TRACE_BYTE_ORDER 0x01020304u
#define SWIFT_TRACE_CHUNK_MAGIC 0x43525453u /* "STRC" */

/// What the ticks are.
enum {
  /// The counter of x86-64 that does not vary; see ticks_per_second.
  swift_trace_clock_tsc = 1,
  /// Nanoseconds of CLOCK_MONOTONIC.
  swift_trace_clock_monotonic = 2,
  /// CNTVCT_EL0 of arm64.
  swift_trace_clock_cntvct = 3,
};

/// Why the file was written.
enum {
  swift_trace_reason_stream = 0,   ///< all events, while the program runs
  swift_trace_reason_call = 1,     ///< swift_trace_dump
  swift_trace_reason_signal = 2,   ///< SWIFT_TRACE_SIGNAL
  swift_trace_reason_crash = 3,    ///< a signal that ends the process
  swift_trace_reason_liveness = 4, ///< a report of the liveness monitor
};

/// At offset 0. A reader of another version or byte order stops here.
typedef struct swift_trace_header {
  char magic[8];
  uint32_t byte_order;
  uint16_t version;
  uint16_t machine;     ///< e_machine of ELF: 62 x86-64, 183 arm64
  uint32_t header_size; ///< the offset of the first chunk
  uint32_t chunk_size;  ///< a power of two; with the chunk's header
  uint32_t process_id;
  uint8_t clock;        ///< swift_trace_clock_*
  uint8_t reason;       ///< swift_trace_reason_*
  uint8_t is_complete;  ///< 1 once all is written. 0: it was cut, or is written yet
  uint8_t signal;       ///< of reason_signal and reason_crash
  /// Two moments at which ticks and clocks were read together, `last` when the
  /// file of swift_trace_reason_stream grew last, or when the file was written.
  /// Nanoseconds between them over ticks between them is the rate. Closer than 1 ms,
  /// or if that is more than 1 % off, as when the system was suspended: take
  /// ticks_per_second. `last` may then be less than `first`.
  uint64_t first_ticks, first_monotonic_ns, first_realtime_ns;
  uint64_t last_ticks, last_monotonic_ns;
  uint64_t ticks_per_second; ///< measured at the start, to about 1 in 1,000
  /// Events that were overwritten by later ones, since the process began.
  uint64_t overwritten;
  /// Events that could not be recorded: all chunks were taken by other threads,
  /// no memory, a full disk, a file that the program has closed, or a signal handler
  /// that interrupted an event.
  uint64_t lost;
  uint64_t chunk_count; ///< in the file; 0: until its end
  int32_t error;        ///< errno of what kept the recorder from writing, or 0
  uint32_t reserved;
  char program[128]; ///< the path of /proc/self/exe, cut, with a 0
} swift_trace_header;

/// What a chunk holds.
enum {
  swift_trace_chunk_events = 1,
  /// swift_trace_module after swift_trace_module. The latest chunk counts.
  swift_trace_chunk_modules = 2,
  /// A swift_trace_counters.
  swift_trace_chunk_counters = 3,
};

/// At the begin of a chunk: 64 bytes.
typedef struct swift_trace_chunk {
  uint32_t magic; ///< SWIFT_TRACE_CHUNK_MAGIC; 0: free
  uint16_t type;  ///< swift_trace_chunk_*
  uint16_t ring;  ///< which ring it belongs to
  uint32_t index; ///< counts the chunks of the ring, from 1
  uint32_t thread_id;
  uint64_t time_base; ///< ticks
  uint64_t running;   ///< the task that runs where the chunk begins; 0: none
  uint64_t sequence;  ///< counts the chunks of the process, from 1
  uint32_t lost;      ///< events that the ring lost before this chunk, since the
                      ///< one before it
  uint32_t depth;     ///< jobs of the thread that run where the chunk begins
  char thread_name[16];
} swift_trace_chunk;

/// In a chunk of modules: an image of the process, in words of 64 bits.
typedef struct swift_trace_module {
  uint32_t size;  ///< of this and the path; a multiple of 8. 0: no more
  uint16_t build_id_size; ///< 0: it has none
  uint16_t path_size;     ///< without the 0
  uint64_t base; ///< what is added to an address of the file: its load bias
  uint64_t begin, end; ///< the addresses that it takes
  uint8_t build_id[24];
  char path[]; ///< with a 0, and zeroes up to the size
} swift_trace_module;

/// The kinds of events: the name, then what its words are. Sizes are those that
/// this version writes.
enum {
  //-- About the recording itself

  /// [ticks] A new time base: times are from here on since these ticks.
  swift_trace_time = 1,
  /// [thread ID, 16 bytes of name: 2 words] Another thread has the ring now. No
  /// job runs on it.
  swift_trace_thread = 2,
  /// [how many] Events of this ring that were lost just before this one.
  swift_trace_lost = 3,
  /// [] The thread's first job begins.
  swift_trace_thread_first_job = 4,

  //-- Tasks

  /// [task, function] Created by the task that runs on this thread. `function` is
  /// where it begins. arg: bits 0 to 7 priority, and swift_trace_create_*.
  swift_trace_task_create = 8,
  /// [task, name: 1 to 8 words with zeroes] Follows the creation of a task that
  /// has a name.
  swift_trace_task_name = 9,
  /// [task] Its memory goes.
  swift_trace_task_destroy = 10,
  /// [task] It has another priority than that with which it was enqueued last.
  /// arg: bits 0 to 7 the priority, and swift_trace_status_*.
  swift_trace_task_status = 11,
  /// [task, task] The first waits for the second.
  swift_trace_task_wait = 12,
  /// [task] What it waited for, a task, is complete. It is enqueued next, or, if the
  /// thread has not left it yet, goes on.
  swift_trace_task_resume = 13,
  /// [task] It was cancelled. By the task of this thread, if there is one.
  swift_trace_task_cancel = 14,
  /// [task, context] It begins a continuation.
  swift_trace_continuation_init = 15,
  /// [context] The task of this thread waits for it, if it is not resumed yet.
  swift_trace_continuation_await = 16,
  /// [context] arg: 1 if with an error. The task is enqueued next, if it waits.
  swift_trace_continuation_resume = 17,

  //-- Jobs

  /// [job] Put into the global executor's queue. arg: swift_trace_not_task.
  swift_trace_enqueue_global = 24,
  /// [job, nanoseconds] The same, after a delay.
  swift_trace_enqueue_delayed = 25,
  /// [job] Put into the main actor's queue.
  swift_trace_enqueue_main = 26,
  /// [job, function] Begins to run on this thread, in this function: where a task
  /// begins, or goes on. arg: bits 0 to 7 the job's kind: 0 is a task, and 192 and
  /// up are those of JobKind; swift_trace_not_task.
  swift_trace_run = 27,
  /// [] The last job that began on this thread has ended, or its task waits.
  swift_trace_run_end = 28,

  //-- Actors

  /// [actor, type] A default actor. `type` is the address of its metadata.
  swift_trace_actor_create = 32,
  /// [actor] Its memory goes.
  swift_trace_actor_deallocate = 34,
  /// [actor, job] Put into the actor's queue. arg: swift_trace_not_task.
  swift_trace_actor_enqueue = 35,
  /// [actor, job] Taken from the actor's queue; it runs next. arg: as above.
  swift_trace_actor_dequeue = 36,
  /// [task, executor] The running task leaves its executor for this one: a hop.
  /// 0 is the global executor. arg: 1 if it goes on at once, on this thread.
  swift_trace_task_switch = 39,

  //-- Groups

  /// [group, task] A child was added.
  swift_trace_group_add = 48,
  /// [group, task] The task waits for the group's next result, or for all its
  /// children to end.
  swift_trace_group_next = 49,

  //-- Sleeps

  /// [task, nanoseconds] It begins to sleep.
  swift_trace_sleep_begin = 56,
  /// [task] The time is over: the task is resumed next.
  swift_trace_sleep_end = 57,
  /// [task] It was cancelled, and is resumed next.
  swift_trace_sleep_cancel = 58,

  //-- Isolated deinits

  /// [object, executor] An isolated deinit becomes a job, or joins one. Those that
  /// run in place are not recorded.
  swift_trace_deinit = 64,
  /// [job, count] A shared job has so many deinits when it begins to run.
  swift_trace_deinit_job = 65,

  //-- The pool

  /// [how many] This worker took jobs of another worker.
  swift_trace_pool_steal = 72,
  /// [1 if it makes one] This thread wakes a worker, or makes one.
  swift_trace_pool_wake = 73,
  /// [class of priorities] A worker is added for one that blocks.
  swift_trace_pool_stand_in = 74,
  /// [] This worker begins to sleep.
  swift_trace_pool_park = 75,
  /// [] This worker has been woken.
  swift_trace_pool_unpark = 76,
  /// [number] This thread begins as a worker.
  swift_trace_pool_thread = 77,
};

/// A bit of the kind: another event follows at once, and is not written.
enum { swift_trace_joined = 1 << 7 };

/// arg: the word is no task's ID but the address of a job.
enum { swift_trace_not_task = 1 << 8 };

/// arg of swift_trace_task_create.
enum {
  swift_trace_create_child = 1 << 8, ///< its parent is the task of this thread
  swift_trace_create_group = 1 << 9, ///< swift_trace_group_add follows
  swift_trace_create_async_let = 1 << 10,
  swift_trace_create_discarding = 1 << 11, ///< it has no result
};

/// arg of swift_trace_task_status. None of running and enqueued: it waits.
enum {
  swift_trace_status_cancelled = 1 << 8,
  swift_trace_status_escalated = 1 << 9,
  swift_trace_status_running = 1 << 10,
  swift_trace_status_enqueued = 1 << 11,
};

/// Sums over all threads, since the process began. Each is counted where the
/// event of that name is recorded, or lost. `version` is 2; later ones are longer. The
/// child of a fork begins with the tasks and sleeps of its parent that have not
/// ended, as created and begun, and with zeroes.
typedef struct swift_trace_counters {
  uint32_t size; ///< of this struct, as far as the writer knows it
  uint32_t version;
  uint64_t monotonic_ns;
  uint64_t tasks_created, tasks_destroyed, tasks_cancelled; ///< live: the rest
  uint64_t jobs_enqueued, jobs_run;
  uint64_t hops; ///< swift_trace_task_switch
  uint64_t pool_steals, pool_wakes, pool_stand_ins, pool_parks;
  uint64_t sleeps_begun, sleeps_ended, sleeps_cancelled; ///< asleep: the rest
  /// Waits in queues, from the enqueuing of a job until it runs: bucket i counts
  /// those shorter than 2^i microseconds and not in a bucket before; the last one
  /// counts all others.
  uint64_t waits[24];
  uint64_t waits_ns; ///< the sum of these waits; since version 2
} swift_trace_counters;

/// Of libswift_Trace, which the runtime loads if SWIFT_TRACE is set: find these
/// two with dlsym, and dlopen(…, RTLD_NOLOAD) before.
///
/// \returns false if nothing is recorded. Set `size` before the call.
bool swift_concurrency_getCounters(swift_trace_counters *counters);

/// Writes what the recorder keeps to a new file, or, if it writes all to a file,
/// the counters to that. \returns its length, or -1 with
/// errno. For any thread, and for signal handlers. Null: the path that a signal
/// would get.
int64_t swift_trace_dump(const char *path);

#ifdef __cplusplus
}
#endif

#endif // SWIFT_CONCURRENCY_TRACE_H
