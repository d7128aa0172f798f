//===--- Monitor.cpp - Who is stuck ---------------------------------------===//
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
// The monitor's thread looks at every record ten times in a timeout. What it
// keeps of a thread, and the settings, are words that others may read at any
// time; only the thread that holds Looking writes the former.
//
//===----------------------------------------------------------------------===//

#include "Internal.h"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

using namespace swift;
using namespace swift::liveness;

Interface *liveness::Runtime;
Symbols liveness::Known;
std::atomic<bool> liveness::UseJson;

static constexpr uint64_t Never = UINT64_MAX;

/*****************************************************************************/
/********************************** SETTINGS *********************************/
/*****************************************************************************/

static constexpr uint32_t MaxMs = 24 * 60 * 60 * 1000;
static std::atomic<uint32_t> TimeoutMs, IntervalMs, Action, Rate;
static std::atomic<bool> IsQuiet, IsOn, HasThread, HasFailed;
/// Patterns, with commas. Never freed: the monitor may be reading it.
static std::atomic<const char *> Ignored;

static Helper MonitorWake;
static std::atomic<uint64_t> Reports, Recoveries, PoolStalls, IgnoredCount,
    Suppressed;

/// How long the monitor itself did not run when it should have. The process was
/// stopped then, or had no processor, and the others could not move either.
static std::atomic<uint64_t> LostNs;

uint64_t liveness::nowNs() {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1000 * NsPerMs + uint64_t(now.tv_nsec);
}
static uint64_t monitorNow() {
  return nowNs() - LostNs.load(std::memory_order_relaxed);
}
static uint64_t timeoutNs() { return TimeoutMs.load() * NsPerMs; }
static uint64_t intervalNs() {
  return std::max<uint64_t>(IntervalMs.load(), 1) * NsPerMs;
}

/*****************************************************************************/
/************************************ TEXT ***********************************/
/*****************************************************************************/

size_t liveness::characterSize(const char *text) {
  auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  auto first = byte(0);
  if (first < 0x80)
    return 1;
  size_t size = first < 0xC2   ? 0
                : first < 0xE0 ? 2
                : first < 0xF0 ? 3
                : first < 0xF5 ? 4
                               : 0;
  for (size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xC0) != 0x80)
      return 0;
  // Neither in more bytes than it needs, nor half of a pair, nor behind the last one.
  bool isNone = (first == 0xE0 && byte(1) < 0xA0) ||
                (first == 0xED && byte(1) >= 0xA0) ||
                (first == 0xF0 && byte(1) < 0x90) ||
                (first == 0xF4 && byte(1) >= 0x90);
  return isNone ? 0 : size;
}

void Text::add(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int added = vsnprintf(Data + Used, sizeof(Data) - Used, format, arguments);
  va_end(arguments);
  if (added > 0)
    Used = std::min(Used + size_t(added), sizeof(Data) - 1);
}

void Text::append(const char *text, size_t size) {
  size = std::min(size, room());
  memcpy(Data + Used, text, size);
  Data[Used += size] = 0;
}

Text::Time::Time() {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  // UTC. gmtime takes a lock, and may read a file. Years of 365.2425 days that
  // begin in March.
  auto days = now.tv_sec / 86400, seconds = now.tv_sec % 86400;
  auto z = days + 719468, era = z / 146097, inEra = z % 146097;
  auto year = (inEra - inEra / 1460 + inEra / 36524 - inEra / 146096) / 365;
  auto inYear = inEra - (365 * year + year / 4 - year / 100);
  auto month = (5 * inYear + 2) / 153;
  snprintf(Text, sizeof(Text), "%04ld-%02ld-%02ldT%02ld:%02ld:%02ld.%03ldZ",
           long(year + era * 400 + (month >= 10)),
           long(month < 10 ? month + 3 : month - 9),
           long(inYear - (153 * month + 2) / 5 + 1), long(seconds / 3600),
           long(seconds / 60 % 60), long(seconds % 60),
           long(now.tv_nsec / long(NsPerMs)));
}

void Text::begin(const Time &time) {
  json("{");
  fact("time", "liveness: %s ", time.Text);
}

void Text::addKey(const char *key) {
  if (Used && !strchr("{[\n", Data[Used - 1]))
    append(",", 1);
  if (!key)
    return;
  append("\"", 1);
  append(key, strlen(key));
  append("\":", 2);
}

void Text::json(const char *part, const char *key) {
  if (!UseJson)
    return;
  if (key || *part == '{')
    addKey(key);
  add("%s", part);
}

void Text::fact(const char *key, const char *format, uint64_t value) {
  if (UseJson)
    addKey(key);
  if (UseJson || format)
    add(UseJson ? "%llu" : format, (unsigned long long)value);
}

void Text::fact(const char *key, const char *format, const char *value) {
  if (!*value || (!UseJson && !format))
    return;
  if (!UseJson)
    return add(format, value);
  addKey(key);
  add("\"");
  // Names of threads and scopes may be anything.
  for (size_t length; *value; value += length) {
    auto byte = static_cast<unsigned char>(*value);
    auto size = characterSize(value);
    length = std::max<size_t>(size, 1);
    if (byte == '"' || byte == '\\' || byte < ' ')
      add(byte < ' ' ? "\\u%04x" : "\\%c", byte);
    else if (size)
      append(value, size);
    else
      add("\\ufffd");
  }
  add("\"");
}

void Text::function(const char *format, const void *address, const char *name) {
  char number[32];
  snprintf(number, sizeof(number), "%p", address);
  json("{");
  fact("at", nullptr, number);
  fact("function", format, name);
  json("}");
}

static const char *const OsStates[] = {"", "running", "blocked",
                                       "starved of processor time"};

/// The name of an executor whose type is known.
static const char *executorName(const void *executor, const char *type) {
  bool isMain = executor == Known.MainQueue ||
                !strcmp(type, "Swift.MainActor") ||
                !strcmp(type, "Swift.DispatchMainExecutor");
  return !executor ? "" : isMain ? "MainActor" : type;
}
static const char *executorOf(const ThreadInfo &info) {
  return executorName(info.Executor, info.name(info.ExecutorType));
}

void liveness::addExecutor(Text &text, const void *executor, const char *type) {
  const char *name = executorName(executor, type);
  text.fact("executor", " on %s", name);
  if (executor && !UseJson && strcmp(name, "MainActor"))
    text.add("%s %p", *name ? "" : " on executor", executor);
}

static void addThread(Text &text, const ThreadInfo &info) {
  text.fact("thread", "thread %llu", info.ThreadId);
  text.fact("thread_name", " \"%s\"", info.ThreadName);
  text.fact("scope", ", scope \"%s\"", info.Scope);
  if (info.TaskId)
    text.fact("task", ", task %llu", info.TaskId);
  text.fact("task_name", " \"%s\"", info.TaskName);
  addExecutor(text, info.Executor, info.name(info.ExecutorType));
  text.fact("state", ", %s", OsStates[info.OsState]);
  text.fact("function", nullptr, info.name(info.Function));
}

static bool isThunk(const char *name) { return strstr(name, "thunk ") != nullptr; }

/*****************************************************************************/
/********************************** LOOKING **********************************/
/*****************************************************************************/

namespace {

/// What is kept of a record. Whoever looks writes it, anyone reads it.
struct Watch {
  std::atomic<uint64_t> State, Since;
  /// When a report is due; 0: the thread is idle.
  std::atomic<uint64_t> Deadline;
  /// How many times it was reported. The monitor's thread writes it.
  std::atomic<uint32_t> Reports;
  // Only for the monitor's thread.
  uint64_t TaskId;
  uint32_t ThreadId;
  /// The first sample, and for which Since it was taken; 0: none.
  CpuSample Before;
  uint64_t SampledSince;
  /// The job that was counted as ignored.
  uint64_t IgnoredSince;
};

} // namespace

static constexpr uint32_t MaxRecords = 1 << 16;
/// Of record i.
static std::atomic<Watch *> Watches;
static std::atomic<bool> Looking;

static Watch &watchOf(uint32_t index) {
  return Watches.load(std::memory_order_relaxed)[index];
}

void *liveness::allocatePages(size_t size) {
  void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

/// Room for records of threads, each with its checkpoints behind it.
static bool makeRecords(uint32_t history) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  if (!Runtime->Records) {
    // One more, which the owner may be writing over while others read.
    uint32_t depth = 2;
    while (depth <= history)
      depth *= 2;
    uint32_t stride = sizeof(Record) + depth * sizeof(uint64_t);
    stride += -stride % alignof(Record);
    Watches = static_cast<Watch *>(allocatePages(MaxRecords * sizeof(Watch)));
    auto *records = Watches && reservePlaces()
                        ? allocatePages(size_t(MaxRecords) * stride)
                        : nullptr;
    if (records) {
      Runtime->MaxRecords = MaxRecords;
      Runtime->RecordStride = stride;
      Runtime->HistoryMask = depth - 1;
      Runtime->Records = static_cast<char *>(records);
    }
  }
  bool made = Runtime->Records != nullptr;
  pthread_mutex_unlock(&lock);
  return made;
}

static uint32_t activityOf(uint32_t index, uint64_t &duration) {
  duration = 0;
  auto &record = Runtime->recordAt(index);
  auto &watch = watchOf(index);
  auto state = stateOf(record);
  if (!(state & 1))
    return swift_liveness_idle;
  if (watch.State.load(std::memory_order_relaxed) != state)
    return swift_liveness_busy;
  auto now = monitorNow(), since = watch.Since.load(std::memory_order_relaxed);
  duration = now > since ? now - since : 0;
  auto own = record.ScopeTimeoutMs.load(std::memory_order_relaxed);
  return duration >= (own ? own * NsPerMs : timeoutNs()) ? swift_liveness_stuck
                                                         : swift_liveness_busy;
}

/// Looks at all threads: one that moved has a new deadline. With Looking.
/// \param moved is called for one that was reported.
/// \returns the earliest deadline.
template <class Moved>
static uint64_t look(uint64_t now, Moved moved) {
  uint64_t earliest = Never;
  for (uint32_t i = 0; i != recordCount(); ++i) {
    auto &record = Runtime->recordAt(i);
    auto &watch = watchOf(i);
    auto state = stateOf(record);
    auto deadline = watch.Deadline.load(std::memory_order_relaxed);
    if (state != watch.State.load(std::memory_order_relaxed)) {
      if (__builtin_expect(watch.Reports != 0, 0) && !moved(watch))
        continue;
      auto own = record.ScopeTimeoutMs.load(std::memory_order_relaxed);
      deadline = state & 1 ? now + (own ? own * NsPerMs : timeoutNs()) : 0;
      watch.State.store(state, std::memory_order_relaxed);
      watch.Since.store(now, std::memory_order_relaxed);
      watch.Deadline.store(deadline, std::memory_order_relaxed);
    }
    if (deadline)
      earliest = std::min(earliest, deadline);
  }
  return earliest;
}

/*****************************************************************************/
/********************************** REPORTS **********************************/
/*****************************************************************************/

/// As the shell: * is any text.
static bool matches(const char *pattern, const char *end, const char *text) {
  // After a *, the rest of the pattern is tried at each character of the text.
  const char *rest = nullptr, *at = nullptr;
  while (*text) {
    if (pattern != end && *pattern == '*') {
      rest = ++pattern;
      at = text;
    } else if (pattern != end && *pattern == *text) {
      ++pattern;
      ++text;
    } else if (rest) {
      pattern = rest;
      text = ++at;
    } else {
      return false;
    }
  }
  while (pattern != end && *pattern == '*')
    ++pattern;
  return pattern == end;
}

/// The name of a function without module, type and parameters.
static void getBaseName(const char *function, char *to, size_t size) {
  auto length = strcspn(function, "( ");
  size_t begin = 0;
  for (size_t i = 0; i != length; ++i)
    if (function[i] == '.')
      begin = i + 1;
  snprintf(to, size, "%.*s", int(length - begin), function + begin);
}

static bool isIgnored(const ThreadInfo &info) {
  const char *pattern = Ignored.load(std::memory_order_acquire);
  if (!pattern)
    return false;
  char base[128];
  getBaseName(info.name(info.Function), base, sizeof(base));
  bool isMain = info.ThreadId == uint32_t(getpid());
  while (*(pattern += strspn(pattern, ", "))) {
    auto *next = pattern + strcspn(pattern, ","), *end = next;
    while (end[-1] == ' ')
      --end;
    for (const char *text : {executorOf(info), isMain ? "main" : info.ThreadName,
                             info.name(info.Function), (const char *)base,
                             (const char *)info.Scope})
      if (*text && matches(pattern, end, text))
        return true;
    pattern = next;
  }
  return false;
}

/// At most Rate reports in a second, for the process.
static bool mayReport(uint64_t now) {
  static uint64_t second;
  static uint32_t count;
  if (now / (1000 * NsPerMs) != second) {
    second = now / (1000 * NsPerMs);
    count = 0;
  }
  if (count++ < Rate.load())
    return true;
  Suppressed.fetch_add(1, std::memory_order_relaxed);
  return false;
}

// The monitor's thread has one report at a time.
static Report TheReport;
static ThreadInfo TheThread, OtherThread;

/// How many of Suppressed have been told.
static uint64_t SuppressedTold;

static void beginReport(uint32_t kind, const char *name, uint64_t duration) {
  auto &text = TheReport.Message;
  text.clear();
  auto suppressed = Suppressed.load(std::memory_order_relaxed) - SuppressedTold;
  SuppressedTold += suppressed;
  if (suppressed && !UseJson)
    text.add("liveness: %llu more reports, too many in a second\n",
             (unsigned long long)suppressed);
  text.begin();
  text.fact("kind", nullptr, name);
  text.fact("pid", nullptr, uint64_t(getpid()));
  text.fact("duration_ms", nullptr, duration / NsPerMs);
  if (suppressed)
    text.fact("suppressed", nullptr, suppressed);
  TheReport.Public = {sizeof(TheReport.Public), kind, duration, nullptr,
                      nullptr,                  0,    nullptr};
}

static void finishReport(bool wait = false) {
  TheReport.Message.json("}\n");
  if (Action != swift_liveness_action_metrics)
    deliver(TheReport, IsQuiet, wait);
}

void liveness::describe(const ThreadInfo &info, swift_liveness_thread &to) {
  to.size = sizeof(to);
  to.thread_id = info.ThreadId;
  to.activity = info.Activity;
  to.os_state = info.OsState;
  to.priority = info.Priority;
  to.duration_ns = info.DurationNs;
  to.task_id = info.TaskId;
  to.executor = info.Executor;
  to.checkpoints = info.Checkpoints;
  to.thread_name = info.ThreadName;
  to.scope = info.Scope;
  to.task_name = info.TaskName;
  to.executor_type = executorOf(info);
  to.function = info.name(info.Function);
  to.waits_in = info.SystemCall;
}

static void addToReport(const ThreadInfo &info) {
  TheReport.Info = info;
  TheReport.Public.thread = &TheReport.Thread;
  TheReport.Public.checkpoint_count = info.CheckpointCount;
}

/// For a thread or a frame, and what ends the report: an object of JSON is not cut.
static constexpr size_t RoomForOne = 2048;

/// All threads but `except`, one a line.
static void addOtherThreads(Text &text, uint32_t except) {
  constexpr unsigned maxLines = 32;
  unsigned lines = 0, idle = 0, more = 0;
  auto &other = OtherThread;
  text.json("[", "other_threads");
  for (uint32_t i = 0; i != recordCount(); ++i) {
    uint64_t duration;
    if (i == except ||
        !Runtime->recordAt(i).ThreadId.load(std::memory_order_relaxed))
      continue;
    auto activity = activityOf(i, duration);
    if (activity == swift_liveness_idle) {
      ++idle;
      continue;
    }
    if (lines == maxLines || text.room() < RoomForOne) {
      ++more;
      continue;
    }
    readThread(i, nullptr, true, other);
    other.DurationNs = duration;
    other.Names.Count = std::min(other.Names.Count, 3u); // no callers
    findNames(other.Names, LongestNaming);
    if (!UseJson)
      text.add("%s    ", lines ? "" : "  other threads:\n");
    text.json("{");
    addThread(text, other);
    text.fact("duration_ms",
              activity == swift_liveness_stuck ? ", stuck for %llu ms\n"
                                               : ", busy for %llu ms\n",
              duration / NsPerMs);
    text.json("}");
    ++lines;
  }
  text.json("]");
  if (more && !UseJson)
    text.add("    and %u more\n", more);
  if (idle || UseJson)
    text.fact("idle_threads",
              idle == 1 ? "  %llu thread idle\n" : "  %llu threads idle\n", idle);
}

static void addStack(Text &text, const StackOf &stack) {
  static NameRequest names;
  text.json("[", "stack");
  if (!UseJson && stack.Count)
    text.add("  stack:\n");
  for (unsigned i = 0; i != stack.Count && text.room() >= RoomForOne; ++i) {
    names.Count = 0;
    names.add(stack.Frames[i]);
    findNames(names, LongestNaming);
    text.function("    %s\n", stack.Frames[i], names.Name[0]);
  }
  text.json("]");
  if (!stack.Count)
    text.fact("no_stack", "  no stack: %s\n",
              stack.Why ? stack.Why : "names take too long");
}

/// \returns whether it counts as reported.
static bool reportStuck(Watch &watch, uint32_t index, uint64_t since,
                        uint64_t now) {
  auto &info = TheThread;
  if (!readThread(index, &watch.Before, true, info))
    return false;
  info.Names.Stack = {};
  info.Names.Stack.ThreadId = info.ThreadId;
  info.Innermost = info.Names.add(nullptr, NameRequest::Innermost);
  findNames(info.Names, LongestNaming);
  // Reading names takes its time, and a job that is gone is not stuck. Another thread
  // may have looked meanwhile, and seen the next one.
  if (stateOf(Runtime->recordAt(index)) !=
          watch.State.load(std::memory_order_relaxed) ||
      watch.Since.load(std::memory_order_relaxed) != since)
    return false;
  if (isIgnored(info)) {
    if (watch.IgnoredSince != since)
      IgnoredCount.fetch_add(1, std::memory_order_relaxed);
    watch.IgnoredSince = since;
    return true;
  }
  info.Activity = swift_liveness_stuck;
  info.DurationNs = now - since;
  watch.TaskId = info.TaskId;
  watch.ThreadId = info.ThreadId;
  bool isFirst = watch.Reports++ == 0;
  bool isFirstOfAll = (isFirst ? Reports.fetch_add(1) : Reports.load()) == 0;
  auto action = Action.load();
  if ((action == swift_liveness_action_once && !(isFirst && isFirstOfAll)) ||
      action == swift_liveness_action_metrics || !mayReport(now))
    return true;
  auto &text = TheReport.Message;
  beginReport(swift_liveness_report_stuck, "stuck", info.DurationNs);
  addToReport(info);
  addThread(text, info);
  if (!UseJson)
    text.add(", stuck for %llu ms\n",
             (unsigned long long)(info.DurationNs / NsPerMs));
  const char *function = info.name(info.Function);
  if (!UseJson && *function && !isThunk(function))
    text.add("  in %s\n", function);
  bool hasCallers = false;
  for (unsigned i = 0; i != info.CallerCount; ++i) {
    const char *caller = info.name(info.Callers[i]);
    if (!*caller || isThunk(caller) || !strcmp(caller, function))
      continue;
    if (!hasCallers)
      text.json("[", "callers");
    hasCallers = true;
    text.function("  called by %s\n", info.Names.Address[info.Callers[i]],
                  caller);
  }
  if (hasCallers)
    text.json("]");
  const char *innermost = info.name(info.Innermost);
  if (info.SystemCall[0]) {
    text.fact("waits_in", "  waits in %s", info.SystemCall);
    text.fact("called_from", ", called by %s", innermost);
    if (!UseJson)
      text.add("\n");
  } else if (strcmp(innermost, function)) {
    text.fact("runs", "  runs %s\n", innermost);
  }
  if (info.CheckpointCount) {
    text.fact("checkpoints", "  checkpoints (%llu):", info.Checkpoints);
    text.json("[", "last_checkpoints");
    for (unsigned i = 0; i != info.CheckpointCount; ++i)
      text.fact(nullptr, " %llu", info.LastCheckpoints[i]);
    text.add(UseJson ? "]" : "\n");
  }
  if (action == swift_liveness_action_backtrace)
    addStack(text, info.Names.Stack);
  addOtherThreads(text, index);
  finishReport(action == swift_liveness_action_abort);
  if (action == swift_liveness_action_abort)
    abort();
  return true;
}

/// \returns true: it is done.
static bool reportRecovered(Watch &watch, uint64_t now) {
  watch.Reports = 0;
  auto first = Recoveries.fetch_add(1) == 0;
  auto action = Action.load();
  if ((action == swift_liveness_action_once && !first) ||
      action == swift_liveness_action_metrics || !mayReport(now))
    return true;
  auto duration = now - watch.Since.load(std::memory_order_relaxed);
  beginReport(swift_liveness_report_recovered, "recovered", duration);
  // It may be in the next job now, or it has ended.
  static ThreadInfo info;
  info.ThreadId = watch.ThreadId;
  info.TaskId = watch.TaskId;
  info.Activity = swift_liveness_busy;
  info.DurationNs = duration;
  addToReport(info);
  addThread(TheReport.Message, info);
  if (!UseJson)
    TheReport.Message.add(", moves again after %llu ms\n",
                          (unsigned long long)(duration / NsPerMs));
  finishReport();
  return true;
}

/*****************************************************************************/
/********************************** THE POOL *********************************/
/*****************************************************************************/

namespace {

/// The pool has a queue for each priority. A probe is a job without work, which
/// another thread enqueues: that may wait, too. When it has not run for the
/// timeout, and no thread of the pool has moved meanwhile, the pool is stalled.
struct PoolWatch {
  bool IsQueued, IsReported;
  uint64_t Since;
};

} // namespace

static PoolWatch Pools[5];
static constexpr unsigned DefaultPool = 2;

static void probe(unsigned which, uint64_t now) {
  auto &pool = Pools[which];
  if (pool.IsQueued)
    return;
  pool = {true, false, now};
  sendProbe(which);
}

static void reportPool(uint32_t kind, const char *name, uint64_t duration,
                       const char *format) {
  if (Action == swift_liveness_action_metrics)
    return;
  auto &text = TheReport.Message;
  beginReport(kind, name, duration);
  if (!UseJson)
    text.add(format, (unsigned long)(duration / NsPerMs));
  if (kind == swift_liveness_report_pool_stalled)
    addOtherThreads(text, UINT32_MAX);
  finishReport();
}

/// \returns when to look again.
static uint64_t watchPool(uint64_t now) {
  // Any progress of a thread of the pool shows that it takes jobs.
  bool hasPool = false;
  uint64_t lastMove = 0;
  for (uint32_t i = 0; i != recordCount(); ++i) {
    auto &record = Runtime->recordAt(i);
    if (!record.ThreadId.load(std::memory_order_relaxed) ||
        !record.IsPool.load(std::memory_order_relaxed))
      continue;
    hasPool = true;
    lastMove = std::max(lastMove,
                        watchOf(i).Since.load(std::memory_order_relaxed));
  }
  // Another thread may have looked later than `now`.
  lastMove = std::min(lastMove, now);
  if (hasPool && lastMove != now)
    probe(DefaultPool, now);
  uint64_t next = Never;
  for (unsigned i = 0; i != 5; ++i) {
    auto &pool = Pools[i];
    if (!pool.IsQueued)
      continue;
    if (probeRan(i)) {
      if (pool.IsReported)
        reportPool(swift_liveness_report_pool_recovered, "pool_recovered",
                   now - pool.Since, "the pool takes jobs again after %lu ms\n");
      pool.IsQueued = pool.IsReported = false;
      continue;
    }
    if (pool.IsReported)
      continue;
    pool.Since = std::max(pool.Since, lastMove);
    auto duration = now - pool.Since;
    if (duration < timeoutNs()) {
      next = std::min(next, pool.Since + timeoutNs());
      continue;
    }
    pool.IsReported = true;
    if (PoolStalls.fetch_add(1) && Action == swift_liveness_action_once)
      continue;
    reportPool(swift_liveness_report_pool_stalled, "pool_stalled", duration,
               "the whole pool is stalled: no thread took a job that was queued "
               "%lu ms ago\n");
    if (!IsQuiet && Action != swift_liveness_action_metrics)
      listTasksSoon(1000);
  }
  return next;
}

/*****************************************************************************/
/********************************* THE THREAD ********************************/
/*****************************************************************************/

/// One look, and what it finds. \returns when to look again, at the latest.
static uint64_t lookAndReport(uint64_t now) {
  auto interval = intervalNs();
  Runtime->Now.store(uint32_t(nowNs() / NsPerMs), std::memory_order_relaxed);
  // Another thread looks: it needs a moment, unless the program has stopped it.
  for (unsigned i = 0; Looking.exchange(true, std::memory_order_acquire) &&
                       i != 100;
       ++i) {
    struct timespec wait = {0, 10000};
    nanosleep(&wait, nullptr);
  }
  auto next = look(now, [&](Watch &watch) {
    return reportRecovered(watch, now);
  });
  Looking.store(false, std::memory_order_release);
  // The first of two samples of processor time is taken ahead.
  auto suspicious = now + std::max(timeoutNs() / 2, interval + interval / 2);
  for (uint32_t i = 0; next <= suspicious && i != recordCount(); ++i) {
    auto &record = Runtime->recordAt(i);
    auto &watch = watchOf(i);
    auto since = watch.Since.load(std::memory_order_relaxed);
    auto deadline = watch.Deadline.load(std::memory_order_relaxed);
    if (!deadline || deadline > suspicious)
      continue;
    auto threadId = record.ThreadId.load(std::memory_order_relaxed);
    if (watch.SampledSince != since) {
      watch.SampledSince = since;
      watch.Before = sampleCpu(threadId);
      if (readThread(i, nullptr, false, TheThread))
        for (unsigned p = 0; p != 5; ++p)
          if (TheThread.Priority == PoolPriorities[p] &&
              record.IsPool.load(std::memory_order_relaxed))
            probe(p, now);
    }
    if (deadline > now || stateOf(record) != watch.State)
      continue;
    if (!threadId)
      watch.Deadline = 0;
    else if (reportStuck(watch, i, since, now)) {
      // Once more after twice the time.
      watch.Deadline = now + (now - since);
      watch.SampledSince = 0;
    }
  }
  next = std::min({next <= now ? now + interval : next, now + interval,
                   watchPool(now)});
  return std::max(next, now + NsPerMs / 2);
}

static void runMonitor() {
  for (;;) {
    if (!IsOn) {
      MonitorWake.wait();
      continue;
    }
    auto planned = lookAndReport(monitorNow()) + LostNs;
    // A report may have taken longer than that.
    planned = std::max(planned, nowNs());
    MonitorWake.waitUntil(planned);
    auto now = nowNs();
    // Also if it was woken: others may run first when the process goes on.
    if (now > planned + intervalNs())
      LostNs.fetch_add(now - planned, std::memory_order_relaxed);
  }
}

/// On a thread of the program, which may be in a job.
static void begin() {
  if (HasThread.exchange(true))
    return MonitorWake.post();
  // Resets wait for no one: there are no helpers yet.
  if (!startHelpers() || !startHelper("swift-liveness", runMonitor)) {
    HasFailed = true;
    Runtime->CurrentMode.store(Mode::Off, std::memory_order_release);
    static const char text[] = "Warning: no thread for the liveness monitor\n";
    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
  }
}

/// Before the first job: until there is one, the signal must not end the process.
static void catchListSignal(int number) {
  struct sigaction action = {};
  action.sa_handler = [](int) {
    auto error = errno;
    listTasksSoon(UINT32_MAX);
    errno = error;
  };
  // The thread that gets it may have little of its own stack left.
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigaction(number, &action, nullptr);
}

static void afterFork() {
  resetHelpers();
  MonitorWake.reset();
  for (uint32_t i = 0; i != recordCount(); ++i)
    watchOf(i).State = watchOf(i).Deadline = watchOf(i).Reports = 0;
  for (auto &pool : Pools)
    pool = {};
  Looking = HasThread = HasFailed = false;
  Reports = Recoveries = PoolStalls = IgnoredCount = Suppressed = 0;
  SuppressedTold = 0;
  forgetFreePlaces();
}

/*****************************************************************************/
/********************************* INTERFACE *********************************/
/*****************************************************************************/

static void setIgnored(const char *text) {
  const char *old = Ignored.load();
  if (!text || !old || strcmp(old, text))
    Ignored.store(text ? strdup(text) : nullptr, std::memory_order_release);
}

static bool start(const swift_liveness_config &config) {
  auto timeout = config.timeout_ms ? config.timeout_ms : 1000;
  auto history = config.history ? config.history : 16;
  if (HasFailed || timeout < 10 || timeout > MaxMs || config.interval_ms > MaxMs ||
      history > 4096 || config.action > swift_liveness_action_metrics ||
      !makeRecords(history))
    return false;
  TimeoutMs = timeout;
  IntervalMs = config.interval_ms ? config.interval_ms : timeout / 10;
  Action = config.action;
  Rate = config.rate ? config.rate : 10;
  UseJson = config.json;
  IsQuiet = config.quiet;
  setIgnored(config.ignore);
  IsOn = true;
  Runtime->CurrentMode.store(Mode::Pending, std::memory_order_release);
  if (HasThread)
    MonitorWake.post();
  return true;
}

static void warn(const char *name, const char *value, const char *instead) {
  char text[256];
  int size = snprintf(text, sizeof(text),
                      "Warning: cannot use value %s=%s, defaulting to %s.\n",
                      name, value, instead);
  (void)!write(STDERR_FILENO, text, std::min(size_t(size), sizeof(text) - 1));
}

static uint32_t readNumber(const char *name, uint32_t min, uint32_t max,
                           uint32_t fallback, const char *instead) {
  const char *value = secure_getenv(name);
  if (!value || !*value)
    return fallback;
  char *end;
  errno = 0;
  auto number = strtoul(value, &end, 10);
  if (!*end && !errno && *value != '-' && number >= min && number <= max)
    return uint32_t(number);
  warn(name, value, instead);
  return fallback;
}

template <size_t Count>
static uint32_t readChoice(const char *name, const char *const (&choices)[Count]) {
  const char *value = secure_getenv(name);
  for (uint32_t i = 0; value && i != Count; ++i)
    if (!strcmp(value, choices[i]))
      return i;
  if (value && *value)
    warn(name, value, choices[0]);
  return 0;
}

/// \returns false when the environment does not turn the monitor on.
static bool readEnvironment(swift_liveness_config &config) {
  config = {};
  const char *timeout = secure_getenv("SWIFT_LIVENESS_TIMEOUT");
  if (!timeout || !*timeout || !strcmp(timeout, "0"))
    return false;
  static const char *const actions[] = {"report", "once", "abort", "backtrace",
                                        "metrics"};
  static const char *const formats[] = {"text", "json"};
  static const char *const signals[] = {"none", "USR1", "USR2", "QUIT"};
  static const int numbers[] = {0, SIGUSR1, SIGUSR2, SIGQUIT};
  config.timeout_ms =
      readNumber("SWIFT_LIVENESS_TIMEOUT", 10, MaxMs, 1000, "1000");
  config.interval_ms = readNumber("SWIFT_LIVENESS_INTERVAL", 1, MaxMs, 0,
                                  "a tenth of the timeout");
  config.history = readNumber("SWIFT_LIVENESS_HISTORY", 1, 4096, 16, "16");
  config.rate = readNumber("SWIFT_LIVENESS_RATE", 1, 1000000, 10, "10");
  config.action = readChoice("SWIFT_LIVENESS_ACTION", actions);
  config.json = readChoice("SWIFT_LIVENESS_FORMAT", formats) == 1;
  config.ignore = secure_getenv("SWIFT_LIVENESS_IGNORE");
  if (auto number = numbers[readChoice("SWIFT_LIVENESS_SIGNAL", signals)])
    catchListSignal(number);
  return true;
}

/// What a struct of the caller has, as far as its size goes.
template <class T> static void copySized(T &to, const T &from) {
  auto size = std::min(to.size, sizeof(T));
  if (size <= sizeof(to.size))
    return;
  memcpy(reinterpret_cast<char *>(&to) + sizeof(to.size),
         reinterpret_cast<const char *>(&from) + sizeof(to.size),
         size - sizeof(to.size));
}

static const swift_liveness_functions Functions = {
    sizeof(swift_liveness_functions),
    [](const swift_liveness_config *config) {
      swift_liveness_config all = {};
      if (config) {
        all.size = config->size;
        copySized(all, *config);
      } else {
        readEnvironment(all);
      }
      return start(all);
    },
    [] {
      IsOn = false;
      Runtime->CurrentMode.store(Mode::Off, std::memory_order_release);
    },
    setCallback,
    callbackIsRunning,
    [](swift_liveness_visitor visitor, void *context) {
      for (uint32_t i = 0; i != recordCount(); ++i) {
        if (!Runtime->recordAt(i).ThreadId.load(std::memory_order_relaxed))
          continue;
        ThreadInfo info;
        readThread(i, nullptr, true, info);
        info.Activity = activityOf(i, info.DurationNs);
        info.Names.Count = std::min(info.Names.Count, 3u);
        if (HasThread)
          findNames(info.Names, LongestNaming);
        swift_liveness_thread thread;
        describe(info, thread);
        visitor(&thread, context);
      }
    },
    [](swift_liveness_counts *counts) {
      swift_liveness_counts all = {};
      for (uint32_t i = 0; i != recordCount(); ++i) {
        uint64_t duration;
        if (!Runtime->recordAt(i).ThreadId.load(std::memory_order_relaxed))
          continue;
        ++all.threads;
        auto activity = activityOf(i, duration);
        all.busy += activity != swift_liveness_idle;
        all.stuck += activity == swift_liveness_stuck;
      }
      all.reports = Reports;
      all.recoveries = Recoveries;
      all.pool_stalls = PoolStalls;
      all.ignored = IgnoredCount;
      all.suppressed = Suppressed;
      all.unwritten = Unwritten;
      copySized(*counts, all);
    },
    [] {
      if (!Looking.exchange(true, std::memory_order_acquire)) {
        auto now = monitorNow();
        bool isNews = false;
        auto next = look(now, [&](Watch &) {
          isNews = true;
          return false;
        });
        Looking.store(false, std::memory_order_release);
        if (isNews || next <= now)
          MonitorWake.post();
      }
    },
    [] { listTasksSoon(UINT32_MAX); },
};

static void findSymbols() {
  // By the library that has the interface: it need not be in the global scope.
  Dl_info info = {};
  void *library = dladdr(Runtime, &info)
                      ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                      : nullptr;
  auto find = [&](const char *name) {
    auto *found = library ? dlsym(library, name) : nullptr;
    return found ? found : dlsym(RTLD_DEFAULT, name);
  };
  auto get = [&](const char *name) -> const void * {
    auto *variable = static_cast<const void *const *>(find(name));
    return variable ? *variable : nullptr;
  };
  Known.Demangle =
      reinterpret_cast<decltype(Known.Demangle)>(find("swift_demangle"));
  Known.DemangleShort = reinterpret_cast<decltype(Known.DemangleShort)>(
      find("_swift_backtrace_demangle"));
  Known.GetTypeName = find("swift_getTypeName");
  Known.EnqueueGlobal = find("swift_task_enqueueGlobal");
  Known.MainQueue = find("_dispatch_main_q");
  Known.JobMetadata = get("_swift_concurrency_debug_jobMetadata");
  Known.FutureAdapter = get("_swift_concurrency_debug_future_adapter");
  Known.OtherAdapter = get("_swift_concurrency_debug_non_future_adapter");
  dl_iterate_phdr(
      [](struct dl_phdr_info *image, size_t, void *base) {
        for (int i = 0; i != image->dlpi_phnum; ++i) {
          auto &segment = image->dlpi_phdr[i];
          auto at = image->dlpi_addr + segment.p_vaddr;
          if (base == reinterpret_cast<void *>(image->dlpi_addr) &&
              segment.p_type == PT_LOAD && (segment.p_flags & PF_X)) {
            Known.CodeBegin = at;
            Known.CodeEnd = at + segment.p_memsz;
          }
        }
        return 0;
      },
      info.dli_fbase);
  // The program may be all of it.
  if (!strstr(info.dli_fname ? info.dli_fname : "", "libswift_Concurrency"))
    Known.CodeBegin = Known.CodeEnd = 0;
}

/// Called once, by the runtime that loads this library.
extern "C" __attribute__((visibility("default"))) const void *
swift_liveness_attach(Interface *runtime) {
  if (runtime->Version != 4 || runtime->Size < sizeof(Interface) ||
      runtime->RecordSize != sizeof(Record))
    return nullptr;
  Runtime = runtime;
  findSymbols();
  resetHelpers();
  MonitorWake.reset();
  runtime->Now.store(uint32_t(nowNs() / NsPerMs), std::memory_order_relaxed);
  runtime->begin = begin;
  pthread_atfork(nullptr, nullptr, afterFork);
  runtime->takePlaces = takePlaces;
  runtime->givePlaces = givePlaces;
  runtime->didLeak = didLeak;
  swift_liveness_config config;
  if (readEnvironment(config) && !start(config)) {
    static const char text[] = "Warning: no memory for the liveness monitor\n";
    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
  }
  return &Functions;
}
