//===--- Internal.h - The parts of libswift_Liveness ------------*- C++ -*-===//
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
// What waits is never done by the monitor's own thread. It only loads, reads
// /proc and posts semaphores; it takes no lock and allocates nothing. Each thing
// that may wait has a thread of its own: names (the loader's lock, the program's
// malloc), writing (a full pipe), the callback, and probes (an executor). One
// that waits leaves the others alone: names that are not there in time are
// numbers, and what cannot be written or called for is counted.
//
//===----------------------------------------------------------------------===//

#ifndef SWIFT_LIVENESS_INTERNAL_H
#define SWIFT_LIVENESS_INTERNAL_H

#include "swift_liveness.h"

#include "Liveness.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <semaphore.h>

namespace swift {
namespace liveness {

extern Interface *Runtime;

constexpr uint64_t NsPerMs = 1000000;
uint64_t nowNs();

inline uint32_t recordCount() {
  return Runtime->RecordCount.load(std::memory_order_acquire);
}
/// Zeroes; pages that are not touched cost nothing. The program's allocator may
/// wait, or run jobs. \returns null if there is no room.
void *allocatePages(size_t size);

/// Whoever looks sees another value after each mark. Checkpoints begin anew with
/// each owner of a record, so they do not just add up.
inline uint64_t stateOf(const Record &record) {
  return record.Epoch.load(std::memory_order_acquire) +
         record.Checkpoints.load(std::memory_order_relaxed) *
             0x9E3779B97F4A7C16; // even: an odd state is a job
}

extern std::atomic<bool> UseJson;

/// \returns how many bytes the character of UTF-8 at `text` takes; 0: it is none.
size_t characterSize(const char *text);

/// What is written: lines for people, or for each report an object of JSON. Its
/// length is bounded. What does not fit is cut.
class Text {
  size_t Used = 0;
  char Data[16384];

  void append(const char *text, size_t size);
  void addKey(const char *key);

public:
  Text() { clear(); }
  void clear() { Data[Used = 0] = 0; }
  const char *get() const { return Data; }
  size_t size() const { return Used; }
  size_t room() const { return sizeof(Data) - 1 - Used; }
  __attribute__((format(printf, 2, 3))) void add(const char *format, ...);

  struct Time {
    char Text[32];
    /// Now, in UTC.
    Time();
  };
  /// Begins a report with the time.
  void begin(const Time &time = Time());
  /// One fact, by `format` or as a member of an object. People are not told what
  /// has no format, and text that is empty is left out.
  void fact(const char *key, const char *format, uint64_t value);
  void fact(const char *key, const char *format, const char *value);
  /// A brace or a bracket; the key is that of a list.
  void json(const char *part, const char *key = nullptr);
  void function(const char *format, const void *address, const char *name);
};

// Threads.cpp: what may wait.

/// A thread that serves one kind of request.
class Helper {
  sem_t Wake;

public:
  void reset() { sem_init(&Wake, 0, 0); }
  void post() { sem_post(&Wake); }
  void wait() {
    while (sem_wait(&Wake)) // EINTR
      ;
  }
  /// Any thread may call it.
  bool waitUntil(uint64_t ns);
};
bool startHelper(const char *name, void (*run)());

void resetHelpers();
bool startHelpers();
bool startCallbackHelper();

/// The stack of a thread, from the inside. What calls has an address in the call.
struct StackOf {
  static constexpr unsigned Max = 64;
  uint32_t ThreadId = 0;
  unsigned Count = 0;
  const char *Why = nullptr; ///< why there is none
  const void *Frames[Max];
};
/// On the thread that finds names: the loader may wait.
void takeStack(StackOf &stack);

/// Names that are wanted: of functions, of types by their metadata, and of what a
/// task began with, which may be in a thunk's closure.
struct NameRequest {
  /// Innermost is the innermost frame of the program in Stack.
  enum Kind : uint8_t { Function, Type, Entry, Innermost };
  static constexpr unsigned Max = 20;
  unsigned Count = 0;
  StackOf Stack;
  const void *Address[Max], *Closure[Max];
  Kind Kinds[Max];
  char Name[Max][256];

  unsigned add(const void *address, Kind kind = Function,
               const void *closure = nullptr) {
    Address[Count] = address;
    Closure[Count] = closure;
    Kinds[Count] = closure ? Entry : kind;
    Name[Count][0] = 0;
    return Count < Max - 1 ? Count++ : Count;
  }
};
/// How long a report waits for names. They take a millisecond, and a sample of a
/// thread that runs up to 40, but on a busy machine the thread that finds them gets
/// its processor late; and a name that is not there in time matches no rule of
/// SWIFT_LIVENESS_IGNORE.
constexpr uint64_t LongestNaming = 150 * NsPerMs;
/// Waits no longer than `ns`. What is not there in time is a number.
void findNames(NameRequest &names, uint64_t ns);
/// For a thread that may wait.
void findNamesHere(NameRequest &names);

void listTasksSoon(uint32_t limit);
/// Of the pool's queues.
constexpr uint8_t PoolPriorities[] = {0x21, 0x19, 0x15, 0x11, 0x09};
void sendProbe(uint32_t which);
bool probeRan(uint32_t which);
void setCallback(swift_liveness_callback callback, void *context);
bool callbackIsRunning();
extern std::atomic<uint64_t> Unwritten;

// Inspect.cpp: what is read of other threads.

/// Reads memory that may not be there.
class Peek {
  struct Page {
    uintptr_t At;
    char Data[4096];
  };
  static constexpr unsigned MaxPages = 64;

  int Fd = -1;
  bool IsOpened = false;
  Page *Pages = nullptr;

  bool readNow(const void *address, void *to, size_t size);
  const Page *readPage(uintptr_t at);

public:
  Peek() = default;
  ~Peek();
  Peek(const Peek &) = delete;
  /// From now on pages are read whole, and used again: objects are neighbours.
  void keepPages();
  bool read(const void *address, void *to, size_t size);
  bool readString(const void *address, char *to, size_t size);
  template <class T> bool read(const void *address, T &to) {
    return read(address, static_cast<void *>(&to), sizeof(T));
  }
};

/// Reads /proc/self/task/THREAD/NAME. \returns false when there is none.
bool readTaskFile(uint32_t threadId, const char *name, char *to, size_t size);

/// Processor time of a thread.
struct CpuSample {
  uint64_t At = 0, Running = 0, Waiting = 0;
};
CpuSample sampleCpu(uint32_t threadId);

struct TaskInfo {
  uint64_t Id, Parent;
  uint32_t Priority, LastRun, Place;
  enum State { Running, Enqueued, Suspended, Complete } State;
  /// Waits for a task, a continuation, a group, or on an executor: 1 to 4.
  uint32_t Dependency;
  const void *DependsOn, *ExecutorType;
  const void *Function, *Closure; ///< the closure of one that has not begun
  char Name[64];
};
/// \param context where its callers are.
bool readTask(Peek &peek, const void *task, TaskInfo &info,
              const void **context = nullptr, bool names = true);

struct ThreadInfo {
  uint32_t ThreadId, Activity = 0, OsState = 0, Priority = 0;
  uint64_t DurationNs = 0, TaskId = 0, Checkpoints = 0;
  const void *Executor = nullptr;
  uint32_t CheckpointCount = 0, CallerCount = 0;
  uint64_t LastCheckpoints[16];
  char ThreadName[16], Scope[64], TaskName[64], SystemCall[32];
  /// Indices in Names, or Max.
  unsigned ExecutorType, Function, Innermost, Callers[12];
  NameRequest Names;

  const char *name(unsigned index) const {
    return index < NameRequest::Max ? Names.Name[index] : "";
  }
};
struct Report {
  swift_liveness_report Public;
  swift_liveness_thread Thread;
  ThreadInfo Info;
  Text Message;
};
void deliver(const Report &report, bool quiet, bool wait = false);
void describe(const ThreadInfo &info, swift_liveness_thread &to);

/// Reads all but activity, duration and names. \returns false if the thread moved
/// meanwhile, or there is none; then only what belongs to the thread is there.
bool readThread(uint32_t index, const CpuSample *before, bool details,
                ThreadInfo &info);

// Tasks.cpp
bool reservePlaces();
uint32_t takePlaces(Record *record);
void givePlaces(Record *record, uint32_t place);
void forgetFreePlaces();
/// The task waits for a continuation that nobody can resume any more.
void didLeak(const void *task);
bool hasLeaked(uint32_t place);
/// \param write gets a line.
void listTasks(uint32_t limit, void (*write)(const char *, size_t));
/// Whether this is a task in the list.
bool isLive(const void *task, uint32_t place);

/// Of the runtime; null if it has none. Found while the library is loaded.
struct Symbols {
  char *(*Demangle)(const char *, size_t, char *, size_t *, uint32_t);
  char *(*DemangleShort)(const char *, size_t, char *, size_t *);
  void *GetTypeName, *EnqueueGlobal;
  const void *JobMetadata, *FutureAdapter, *OtherAdapter, *MainQueue;
  /// The code of libswift_Concurrency.
  uintptr_t CodeBegin, CodeEnd;

  bool isOfRuntime(const void *address) const {
    auto at = reinterpret_cast<uintptr_t>(address);
    return at >= CodeBegin && at < CodeEnd;
  }
};
extern Symbols Known;

// Monitor.cpp
void addExecutor(Text &text, const void *executor, const char *type);

} // namespace liveness
} // namespace swift

#endif // SWIFT_LIVENESS_INTERNAL_H
