//===--- Inspect.cpp - In what a thread is stuck --------------------------===//
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
// What a thread's record, its job and the system say about it. The job belongs to
// another thread and may end at any time: all of it is read by system calls, and
// is not believed when the thread has moved meanwhile.
//
//===----------------------------------------------------------------------===//

#include "Internal.h"

#include "TaskPrivate.h"
#include "swift/ABI/TaskStatus.h"
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

using namespace swift;
using namespace swift::liveness;

/*****************************************************************************/
/********************************** READING **********************************/
/*****************************************************************************/

Peek::~Peek() {
  if (Fd >= 0)
    close(Fd);
  if (Pages)
    munmap(Pages, MaxPages * sizeof(Page));
}

void Peek::keepPages() {
  if (!Pages)
    Pages = static_cast<Page *>(allocatePages(MaxPages * sizeof(Page)));
}

const Peek::Page *Peek::readPage(uintptr_t at) {
  auto &page = Pages[at / sizeof(Page::Data) % MaxPages];
  if (page.At != at && !readNow(reinterpret_cast<void *>(at), page.Data,
                                sizeof(page.Data)))
    at = 0; // what it held may be written over
  page.At = at;
  return at ? &page : nullptr;
}

bool Peek::read(const void *address, void *to, size_t size) {
  auto at = reinterpret_cast<uintptr_t>(address);
  while (Pages && size) {
    auto offset = at % sizeof(Page::Data);
    auto part = std::min(size, sizeof(Page::Data) - offset);
    auto *page = readPage(at - offset);
    if (!page)
      return false;
    memcpy(to, page->Data + offset, part);
    to = static_cast<char *>(to) + part;
    at += part;
    size -= part;
  }
  return !size || readNow(address, to, size);
}

bool Peek::readNow(const void *address, void *to, size_t size) {
  // A process can always read its own file, and no filter minds. It is open for a
  // report only: programs close all files, and the child of a fork would read its
  // parent.
  if (!IsOpened) {
    IsOpened = true;
    Fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  }
  ssize_t got = -1;
  if (Fd >= 0) {
    got = pread(Fd, to, size, off_t(reinterpret_cast<uintptr_t>(address)));
  } else if (!prctl(PR_GET_SECCOMP, 0, 0, 0, 0)) {
    // There is no /proc, no file left, or the process is of another user than it
    // was. A filter may end the process for this call.
    struct iovec local = {to, size};
    struct iovec remote = {const_cast<void *>(address), size};
    got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  }
  return got == ssize_t(size);
}

bool Peek::readString(const void *address, char *to, size_t size) {
  auto *from = static_cast<const char *>(address);
  size_t used = 0;
  // By 16 bytes: the string may end just before memory that is not there.
  while (used + 1 < size) {
    auto at = reinterpret_cast<uintptr_t>(from + used);
    size_t step = std::min<size_t>(16 - at % 16, size - 1 - used);
    if (!read(from + used, to + used, step))
      break;
    for (auto end = used + step; used != end; ++used) {
      if (!to[used])
        return true;
      // Text for a terminal and a log, whatever is there.
      if (static_cast<unsigned char>(to[used]) < ' ')
        to[used] = '?';
    }
  }
  to[used] = 0;
  // The last character may be cut.
  for (size_t i = 1; i <= std::min<size_t>(used, 3); ++i)
    if ((to[used - i] & 0xC0) != 0x80) {
      if (!characterSize(to + used - i))
        to[used -= i] = 0;
      break;
    }
  return used != 0;
}

bool liveness::readTaskFile(uint32_t threadId, const char *name, char *to,
                            size_t size) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/self/task/%u/%s", threadId, name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t got = fd < 0 ? -1 : ::read(fd, to, size - 1);
  if (fd >= 0)
    close(fd);
  to[got > 0 ? got : 0] = 0;
  if (got > 0 && to[got - 1] == '\n')
    to[got - 1] = 0;
  return got > 0;
}

/*****************************************************************************/
/********************************** THE SYSTEM *******************************/
/*****************************************************************************/

CpuSample liveness::sampleCpu(uint32_t threadId) {
  CpuSample sample;
  sample.At = nowNs();
  char text[128];
  unsigned long long running, waiting;
  if (readTaskFile(threadId, "schedstat", text, sizeof(text)) &&
      sscanf(text, "%llu %llu", &running, &waiting) == 2) {
    sample.Running = running;
    sample.Waiting = waiting;
  }
  return sample;
}

/// Whether a thread that could run between two samples mostly did not.
static bool isStarved(const CpuSample &before, const CpuSample &after) {
  auto ran = after.Running - before.Running;
  if (after.Waiting - before.Waiting > ran)
    return true;
  // The kernel adds the time of waiting when it ends, and that of running at each
  // tick of its clock.
  constexpr uint64_t someTicks = 20 * NsPerMs;
  auto elapsed = after.At - before.At;
  return elapsed >= someTicks && ran < elapsed / 2;
}

static uint32_t getOsState(uint32_t threadId, const CpuSample *before) {
  char text[512];
  if (!readTaskFile(threadId, "stat", text, sizeof(text)))
    return swift_liveness_os_unknown;
  // The thread's name is in parentheses, and may hold any character.
  const char *state = strrchr(text, ')');
  if (!state || !state[1])
    return swift_liveness_os_unknown;
  if (state[2] != 'R')
    return swift_liveness_os_blocked;
  return before && isStarved(*before, sampleCpu(threadId))
             ? swift_liveness_os_starved
             : swift_liveness_os_running;
}

/// The system call that a blocked thread is in.
static void findWait(ThreadInfo &info) {
  static const struct {
    long Number;
    const char *Name;
  } names[] = {
#define CALL(NAME) {SYS_##NAME, #NAME}
      CALL(futex),     CALL(nanosleep), CALL(clock_nanosleep), CALL(read),
      CALL(write),     CALL(readv),     CALL(writev),          CALL(pread64),
      CALL(pwrite64),  CALL(openat),    CALL(ppoll),           CALL(pselect6),
      CALL(recvfrom),  CALL(recvmsg),   CALL(sendto),          CALL(sendmsg),
      CALL(accept4),   CALL(connect),   CALL(wait4),           CALL(waitid),
      CALL(flock),     CALL(fsync),     CALL(fdatasync),       CALL(epoll_pwait),
#ifdef SYS_poll
      CALL(poll),      CALL(select),    CALL(epoll_wait),      CALL(pause),
#endif
#undef CALL
  };
  char text[256];
  long number;
  if (!readTaskFile(info.ThreadId, "syscall", text, sizeof(text)) ||
      sscanf(text, "%ld", &number) != 1 || number < 0)
    return;
  snprintf(info.SystemCall, sizeof(info.SystemCall), "system call %ld", number);
  for (auto &known : names)
    if (known.Number == number)
      snprintf(info.SystemCall, sizeof(info.SystemCall), "%s", known.Name);
}

/*****************************************************************************/
/********************************** THE TASK *********************************/
/*****************************************************************************/

/// Copies of the runtime's objects, of which only plain data is looked at.
template <class T> struct CopyOf {
  alignas(T) char Storage[sizeof(T)];
  bool read(Peek &peek, const void *address) {
    return address && peek.read(address, Storage, sizeof(T));
  }
  const T *operator->() const { return reinterpret_cast<const T *>(Storage); }
};

/// What TaskDependencyStatusRecord has after its base, which is private.
struct Dependency : TaskStatusRecord {
  const void *On;
  const void *Implementation;
  uint32_t Kind;
};

/// Of an object that is alive, as an executor in use; but a queue of libdispatch,
/// which is no Swift object, can be an executor, too.
static bool isClass(Peek &peek, const void *object, const void *&metadata) {
  CopyOf<ClassMetadata> copy;
  uint32_t flags;
  return peek.read(object, metadata) && copy.read(peek, metadata) &&
         copy->getKind() == MetadataKind::Class &&
         peek.read(copy->getDescription(), flags) &&
         // No version is in use.
         (flags & 0xFF1F) == uint32_t(ContextDescriptorKind::Class);
}

/// The function in which the task began this run, or goes on.
static const void *functionOf(Peek &peek, const AsyncTask &task,
                              const void *&closure) {
  auto *function = reinterpret_cast<const void *>(task.ResumeTask);
  auto *context = reinterpret_cast<const char *>(
      static_cast<AsyncContext *>(task.ResumeContext));
  // A task that starts goes through an adapter of the runtime. The function and
  // its closure are noted in front of the context.
  const void *entry[3];
  if (function &&
      (function == Known.FutureAdapter || function == Known.OtherAdapter)) {
    if (!peek.read(context - sizeof(entry), entry))
      return nullptr;
    closure = entry[1];
    return entry[0];
  }
  // It waited for something. The program's function that comes after is meant.
  CopyOf<AsyncContext> copy;
  for (unsigned i = 0; i != 8 && Known.isOfRuntime(function) &&
                       copy.read(peek, context);
       ++i) {
    function = reinterpret_cast<const void *>(copy->ResumeParent);
    context = reinterpret_cast<const char *>(
        static_cast<AsyncContext *>(copy->Parent));
  }
  return function;
}

bool liveness::readTask(Peek &peek, const void *address, TaskInfo &info,
                        const void **context, bool names) {
  info = {};
  CopyOf<AsyncTask> task;
  if (!task.read(peek, address) || !task->isAsyncTask())
    return false;
  auto &privates = task->_private();
  auto status = privates._status().load(std::memory_order_relaxed);
  uint32_t words[2];
  memcpy(words, &task->Reserved64, sizeof(words));
  info.Place = words[0];
  info.LastRun = words[1];
  info.Id = uint64_t(privates.Id) << 32 | task->Id;
  info.Priority = uint32_t(task->getPriority());
  if (task->hasChildFragment()) {
    auto *after = static_cast<const char *>(address) + sizeof(AsyncTask);
    CopyOf<AsyncTask::ChildFragment> copy;
    if (copy.read(peek, after))
      info.Parent = reinterpret_cast<uint64_t>(
          const_cast<AsyncTask::ChildFragment *>(copy.operator->())
              ->getParent());
  }
  if (!names && !context)
    return true;
  info.State = status.isComplete()   ? TaskInfo::Complete
               : status.isRunning()  ? TaskInfo::Running
               : status.isEnqueued() ? TaskInfo::Enqueued
                                     : TaskInfo::Suspended;
  if (info.State != TaskInfo::Complete)
    info.Function = functionOf(peek, *task.operator->(), info.Closure);
  if (context)
    *context = static_cast<AsyncContext *>(task->ResumeContext);
  // One that waits for the global executor has no record of that.
  if (info.State == TaskInfo::Enqueued)
    info.Dependency = 4;
  CopyOf<Dependency> dependency;
  if (status.hasTaskDependency() &&
      dependency.read(peek, privates.dependencyRecord)) {
    info.Dependency = dependency->Kind;
    info.DependsOn = dependency->On;
    if (info.Dependency == 4 && !isClass(peek, info.DependsOn, info.ExecutorType))
      info.ExecutorType = nullptr;
  }
  const void *record = status.getInnermostRecord();
  CopyOf<TaskNameStatusRecord> copy;
  for (unsigned i = 0; i != 64 && copy.read(peek, record); ++i) {
    if (copy->getKind() == TaskStatusRecordKind::TaskName) {
      peek.readString(
          const_cast<TaskNameStatusRecord *>(copy.operator->())->getName(),
          info.Name, sizeof(info.Name));
      break;
    }
    record = copy->getParent();
  }
  // A task that ended, and whose memory is something else by now.
  return isLive(address, info.Place);
}

/*****************************************************************************/
/********************************* THE THREAD ********************************/
/*****************************************************************************/

static void readJob(Peek &peek, Record &record, bool details,
                    ThreadInfo &info) {
  auto job = record.Job.load(std::memory_order_relaxed);
  if (!job)
    return;
  // The executor is what the tracking information begins with.
  auto *slot = record.Executor.load(std::memory_order_relaxed);
  const void *tracking, *metadata;
  bool hasMetadata = false;
  if (slot && peek.read(slot, tracking) && tracking &&
      peek.read(tracking, info.Executor) && info.Executor)
    hasMetadata = isClass(peek, info.Executor, metadata);
  if (auto kind = job & KindMask) {
    // A job that is not a task frees itself before it works.
    info.Priority = uint32_t(JobPriority::Default);
    snprintf(info.TaskName, sizeof(info.TaskName), "%s",
             kind == 5 ? "an isolated deinit" : "a job of the runtime");
    if (details && hasMetadata)
      info.ExecutorType = info.Names.add(metadata, NameRequest::Type);
    return;
  }
  TaskInfo task;
  const void *context = nullptr;
  auto *address = reinterpret_cast<const void *>(job);
  if (!readTask(peek, address, task, &context))
    return;
  info.Priority = task.Priority;
  info.TaskId = task.Id;
  memcpy(info.TaskName, task.Name, sizeof(info.TaskName));
  if (!details)
    return;
  if (hasMetadata)
    info.ExecutorType = info.Names.add(metadata, NameRequest::Type);
  if (task.Function)
    info.Function = info.Names.add(task.Function, NameRequest::Function,
                                   task.Closure);
  // A context that the task has left meanwhile may hold anything; what is not in
  // code ends the list.
  for (unsigned i = 0; i != 16 && info.CallerCount != 12; ++i) {
    CopyOf<AsyncContext> frame;
    if (!frame.read(peek, context))
      break;
    auto *caller = reinterpret_cast<const void *>(frame->ResumeParent);
    if (!Known.isOfRuntime(caller) && caller != task.Function)
      info.Callers[info.CallerCount++] = info.Names.add(caller);
    context = static_cast<AsyncContext *>(frame->Parent);
  }
}

static void copyHistory(Record &record, ThreadInfo &info) {
  auto mask = Runtime->HistoryMask;
  auto end = record.Checkpoints.load(std::memory_order_acquire);
  auto count = std::min<uint64_t>({end, mask, 16});
  for (uint64_t i = 0; i != count; ++i)
    info.LastCheckpoints[i] =
        record.history()[(end - count + i) & mask].load(
            std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  // If it moved, what was written over meanwhile is not known.
  if (record.Checkpoints.load(std::memory_order_relaxed) == end)
    info.CheckpointCount = uint32_t(count);
  info.Checkpoints = end;
}

bool liveness::readThread(uint32_t index, const CpuSample *before, bool details,
                          ThreadInfo &info) {
  auto &record = Runtime->recordAt(index);
  info.Priority = info.OsState = info.Activity = 0;
  info.TaskId = info.DurationNs = 0;
  info.Executor = nullptr;
  info.CheckpointCount = info.CallerCount = info.Names.Count = 0;
  info.Names.Stack.ThreadId = 0;
  info.ThreadName[0] = info.Scope[0] = info.TaskName[0] = info.SystemCall[0] = 0;
  info.ExecutorType = info.Function = info.Innermost = NameRequest::Max;
  auto epoch = record.Epoch.load(std::memory_order_acquire);
  info.ThreadId = record.ThreadId.load(std::memory_order_relaxed);
  if (!info.ThreadId)
    return false;
  Peek peek;
  if (epoch & 1) {
    readJob(peek, record, details, info);
    if (auto *name = record.ScopeName.load(std::memory_order_relaxed))
      peek.readString(name, info.Scope, sizeof(info.Scope));
  }
  copyHistory(record, info);
  if (details) {
    char name[sizeof(info.ThreadName)];
    readTaskFile(info.ThreadId, "comm", name, sizeof(name));
    peek.readString(name, info.ThreadName, sizeof(name));
    info.OsState = getOsState(info.ThreadId, before);
    if (info.OsState == swift_liveness_os_blocked)
      findWait(info);
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  if (record.Epoch.load(std::memory_order_relaxed) == epoch)
    return true;
  // What was read may be a mixture of two jobs.
  info.Priority = info.CheckpointCount = info.CallerCount = info.Names.Count = 0;
  info.TaskId = 0;
  info.Executor = nullptr;
  info.Scope[0] = info.TaskName[0] = info.SystemCall[0] = 0;
  info.ExecutorType = info.Function = info.Innermost = NameRequest::Max;
  return false;
}
