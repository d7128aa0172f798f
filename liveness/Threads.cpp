//===--- Threads.cpp - What may wait, each on a thread of its own ---------===//
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

#include "Internal.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <initializer_list>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

using namespace swift;
using namespace swift::liveness;

bool Helper::waitUntil(uint64_t ns) {
  struct timespec until = {time_t(ns / (1000 * NsPerMs)),
                           long(ns % (1000 * NsPerMs))};
  return sem_clockwait(&Wake, CLOCK_MONOTONIC, &until) == 0;
}

bool liveness::startHelper(const char *name, void (*run)()) {
  // Signals are for the program's threads, but a crash here is one here.
  sigset_t blocked, old;
  sigfillset(&blocked);
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS})
    sigdelset(&blocked, number);
  pthread_sigmask(SIG_SETMASK, &blocked, &old);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  // The stack that the program's threads have: its thread-local storage may be
  // large, and pages that are not touched cost nothing.
  int error = pthread_create(
      &thread, &attributes,
      [](void *run) -> void * {
        reinterpret_cast<void (*)()>(run)();
        return nullptr;
      },
      reinterpret_cast<void *>(run));
  if (!error && name)
    pthread_setname_np(thread, name);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  return !error;
}

/*****************************************************************************/
/*********************************** NAMES ***********************************/
/*****************************************************************************/

static void demangle(const char *mangled, char *name, size_t size) {
  auto length = strlen(mangled);
  char *full = Known.DemangleShort
                   ? Known.DemangleShort(mangled, length, nullptr, nullptr)
               : Known.Demangle
                   ? Known.Demangle(mangled, length, nullptr, nullptr, 0)
                   : nullptr;
  if (!full && !strncmp(mangled, "_Z", 2))
    full = abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr);
  const char *text = full ? full : mangled;
  // "(1) suspend resume partial function for f() async": f() is what is meant.
  for (const char *part : {"resume partial function for ", "partial apply for ",
                           "partial apply forwarder for "})
    while (auto *found = strstr(text, part))
      text = found + strlen(part);
  // Code at the top level has no name: "closure #1 in ".
  auto end = strlen(text);
  bool isTop = end > 3 && !strcmp(text + end - 4, " in ");
  snprintf(name, size, "%s%s", text, isTop ? "top-level code" : "");
  free(full);
}

/// A file's own symbol table also has what is not exported, as the functions of
/// an executable. libbacktrace could read it, but reads all images before its
/// first answer: 250 ms of processor time. Here one pass over one table does.
/// \param address as linked. \returns whether `name` is its function.
static bool findInTable(const char *file, size_t size, uintptr_t address,
                        bool atBegin, char *name, size_t nameSize) {
  auto *header = reinterpret_cast<const ElfW(Ehdr) *>(file);
  auto has = [&](size_t offset, size_t length) {
    return offset <= size && length <= size - offset;
  };
  if (!has(0, sizeof(*header)) || memcmp(file, ELFMAG, SELFMAG) ||
      header->e_shentsize != sizeof(ElfW(Shdr)) ||
      !has(header->e_shoff, header->e_shnum * sizeof(ElfW(Shdr))))
    return false;
  auto *sections = reinterpret_cast<const ElfW(Shdr) *>(file + header->e_shoff);
  for (unsigned i = 0; i != header->e_shnum; ++i) {
    auto &table = sections[i];
    if (table.sh_type != SHT_SYMTAB || table.sh_link >= header->e_shnum)
      continue;
    auto &text = sections[table.sh_link];
    if (!has(table.sh_offset, table.sh_size) ||
        !has(text.sh_offset, text.sh_size))
      continue;
    auto *symbols =
        reinterpret_cast<const ElfW(Sym) *>(file + table.sh_offset);
    for (size_t s = 0; s != table.sh_size / sizeof(*symbols); ++s) {
      auto &symbol = symbols[s];
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC ||
          address - symbol.st_value >= (atBegin ? 1 : symbol.st_size) ||
          symbol.st_name >= text.sh_size)
        continue;
      snprintf(name, nameSize, "%.*s", int(text.sh_size - symbol.st_name),
               file + text.sh_offset + symbol.st_name);
      return true;
    }
  }
  return false;
}

/// Whether a function is the program's, and not of the system's libraries, of
/// Swift's, or of what is linked into the program of either. path: of its file,
/// empty for the program's own, null if it is not known.
static bool isOfProgram(const char *path, const char *symbol) {
  static const char *const swift[] = {"libswift", "libdispatch", "lib_",
                                      "libBlocksRuntime", "libFoundation"};
  auto begins = [](const char *text, const char *with) {
    return !strncmp(text, with, strlen(with));
  };
  if (!path || !*symbol || begins(symbol, "swift_") ||
      (*symbol == '_' && !begins(symbol, "_Z") && !begins(symbol, "_$")))
    return false;
  if (!*path)
    return true;
  auto *slash = strrchr(path, '/');
  if (!slash)
    return false;
  for (auto *prefix : swift)
    if (begins(slash + 1, prefix))
      return false;
  Dl_info info = {};
  if (!dladdr(reinterpret_cast<void *>(gnu_get_libc_version), &info) ||
      !info.dli_fname)
    return true;
  auto folder = size_t(slash - path) + 1;
  auto *last = strrchr(info.dli_fname, '/');
  return !last || size_t(last - info.dli_fname) + 1 != folder ||
         strncmp(info.dli_fname, path, folder);
}

/// \returns whether there is a name. If not, and for an address that is not the
/// begin of a function where that is asked, name is a number.
static bool nameFunction(const void *address, char *name, size_t size,
                         bool atBegin = false, bool *ofProgram = nullptr) {
  Dl_info info = {};
  struct link_map *at = nullptr, image;
  char path[PATH_MAX], symbol[2048] = "";
  // The library may be closed at any time, so what the loader has of it is read
  // as all is that may be unmapped. What it has of the libc and of the program
  // stays.
  Peek peek;
  bool isFound = dladdr1(address, &info, reinterpret_cast<void **>(&at),
                         RTLD_DL_LINKMAP) &&
                 peek.read(at, image) &&
                 peek.readString(image.l_name, path, sizeof(path));
  if (isFound) {
    // The program's own file has no name there.
    int fd = open(*path ? path : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0) {
      auto length = size_t(status.st_size);
      void *file = mmap(nullptr, length, PROT_READ, MAP_PRIVATE, fd, 0);
      if (file != MAP_FAILED) {
        // Another file may have the name by now. The first bytes, which are loaded,
        // have the build ID.
        char loaded[1024];
        if (length >= sizeof(loaded) && peek.read(info.dli_fbase, loaded) &&
            !memcmp(loaded, file, sizeof(loaded)))
          findInTable(static_cast<char *>(file), length,
                      reinterpret_cast<uintptr_t>(address) - image.l_addr,
                      atBegin, symbol, sizeof(symbol));
        munmap(file, length);
      }
    }
    if (fd >= 0)
      close(fd);
  }
  if (isFound && !*symbol && info.dli_sname &&
      (!atBegin || info.dli_saddr == address))
    peek.readString(info.dli_sname, symbol, sizeof(symbol));
  if (ofProgram)
    *ofProgram = isOfProgram(isFound ? path : nullptr, symbol);
  if (*symbol) {
    demangle(symbol, name, size);
    return true;
  }
  const char *file = !isFound ? "" : *path ? path : info.dli_fname;
  const char *slash = strrchr(file, '/');
  snprintf(name, size, "%p%s%s", address, *file ? " in " : "",
           slash ? slash + 1 : file);
  return false;
}

/// Names what a task began with. The compiler's thunk hides it in its closure,
/// behind the header and perhaps some metadata: two words, a pointer to a
/// relative pointer to a function, and a closure.
static void nameEntry(const void *function, const void *closure, char *name,
                      size_t size) {
  Peek peek;
  nameFunction(function, name, size);
  for (unsigned depth = 0; closure && depth != 4 && strstr(name, "thunk ");
       ++depth) {
    auto *words = static_cast<const void *const *>(closure) + 2;
    closure = nullptr;
    for (unsigned i = 0; i <= 3 && !closure; ++i) {
      const char *wrapped[2];
      int32_t offset;
      char inner[256];
      if (!peek.read(words + i, wrapped) || !peek.read(wrapped[0], offset) ||
          !nameFunction(wrapped[0] + offset, inner, sizeof(inner), true))
        continue;
      snprintf(name, size, "%s", inner);
      closure = wrapped[1];
      break;
    }
  }
}

/// The metadata is that of a class whose object was alive: it does not go.
static void nameType(const void *metadata, char *name, size_t size) {
  struct Pair {
    const char *Data;
    uintptr_t Length;
  };
  using GetName = __attribute__((swiftcall)) Pair(const void *, bool);
  if (!Known.GetTypeName)
    return;
  auto pair = reinterpret_cast<GetName *>(Known.GetTypeName)(metadata, true);
  snprintf(name, size, "%.*s", int(pair.Length), pair.Data);
}

/// Names the innermost frame of the program.
static void nameInnermost(const StackOf &stack, const void *&address, char *name,
                          size_t size) {
  for (unsigned i = 0; i != stack.Count; ++i) {
    bool ofProgram = false;
    nameFunction(stack.Frames[i], name, size, false, &ofProgram);
    if (ofProgram && !strstr(name, "thunk ")) {
      address = stack.Frames[i];
      return;
    }
  }
  name[0] = 0;
}

void liveness::findNamesHere(NameRequest &names) {
  if (names.Stack.ThreadId)
    takeStack(names.Stack);
  for (unsigned i = 0; i != names.Count; ++i) {
    auto *name = names.Name[i];
    constexpr size_t size = sizeof(names.Name[i]);
    if (names.Kinds[i] == NameRequest::Type)
      nameType(names.Address[i], name, size);
    else if (names.Kinds[i] == NameRequest::Innermost)
      nameInnermost(names.Stack, names.Address[i], name, size);
    else if (names.Kinds[i] == NameRequest::Entry)
      nameEntry(names.Address[i], names.Closure[i], name, size);
    else
      nameFunction(names.Address[i], name, size);
  }
}

namespace {

/// Whoever asks takes a free slot, and the namer answers. A slot that is given up
/// belongs to the namer until it comes to it.
struct NameSlot {
  enum : uint32_t { Free, Filling, Asked, Working, Done, GivenUp };
  std::atomic<uint32_t> State;
  Helper Answered;
  NameRequest Names;
};

} // namespace

static NameSlot NameSlots[4];
static Helper NamerWake;
/// A request was given up, and the namer has not come to it yet.
static std::atomic<bool> NamerIsStuck;

static void runNamer() {
  for (;;) {
    NamerWake.wait();
    NamerIsStuck.store(false, std::memory_order_relaxed);
    for (auto &slot : NameSlots) {
      uint32_t state = NameSlot::Asked;
      if (!slot.State.compare_exchange_strong(state, NameSlot::Working))
        continue;
      findNamesHere(slot.Names);
      state = NameSlot::Working;
      if (slot.State.compare_exchange_strong(state, NameSlot::Done))
        slot.Answered.post();
      else
        slot.State.store(NameSlot::Free, std::memory_order_release);
    }
  }
}

void liveness::findNames(NameRequest &names, uint64_t ns) {
  for (unsigned i = 0; i != names.Count; ++i)
    if (names.Address[i] && names.Kinds[i] != NameRequest::Type)
      snprintf(names.Name[i], sizeof(names.Name[i]), "%p", names.Address[i]);
  if (!names.Count || NamerIsStuck.load(std::memory_order_relaxed))
    return;
  for (auto &slot : NameSlots) {
    uint32_t state = NameSlot::Free;
    if (!slot.State.compare_exchange_strong(state, NameSlot::Filling))
      continue;
    auto until = nowNs() + ns;
    slot.Names = names;
    slot.State.store(NameSlot::Asked, std::memory_order_release);
    NamerWake.post();
    // The answer to a request that was given up may be posted late.
    while (slot.State.load(std::memory_order_acquire) != NameSlot::Done &&
           nowNs() < until)
      slot.Answered.waitUntil(until);
    for (;;) {
      state = slot.State.load(std::memory_order_acquire);
      if (state == NameSlot::Done) {
        names = slot.Names;
        slot.Answered.reset();
        slot.State.store(NameSlot::Free, std::memory_order_release);
        return;
      }
      auto next = state == NameSlot::Asked ? NameSlot::Free : NameSlot::GivenUp;
      if (slot.State.compare_exchange_strong(state, next)) {
        NamerIsStuck.store(true, std::memory_order_relaxed);
        NamerWake.post(); // It takes that back.
        return;
      }
    }
  }
}

/*****************************************************************************/
/********************************** WRITING **********************************/
/*****************************************************************************/

namespace {

/// Reports from one thread, the monitor's, to one other.
class ReportQueue {
  // A burst: the default of ten reports a second, and one for each pool.
  static constexpr uint32_t Size = 16;
  Report Reports[Size];
  std::atomic<uint32_t> Begin, End;

public:
  void reset() { Begin = End = 0; }
  bool put(const Report &report) {
    auto end = End.load(std::memory_order_relaxed);
    if (end - Begin.load(std::memory_order_acquire) == Size)
      return false;
    Reports[end % Size] = report;
    End.store(end + 1, std::memory_order_release);
    return true;
  }
  Report *first() {
    auto begin = Begin.load(std::memory_order_relaxed);
    return begin == End.load(std::memory_order_acquire) ? nullptr
                                                        : &Reports[begin % Size];
  }
  void drop() { Begin.store(Begin + 1, std::memory_order_release); }
};

} // namespace

static ReportQueue ToWrite, ToCall;
static Helper WriterWake, CallerWake;
static std::atomic<uint32_t> TaskLimit;
std::atomic<uint64_t> liveness::Unwritten;

/// \returns false if it cannot be written.
static bool writeAll(const char *text, size_t size) {
  while (size) {
    auto written = write(STDERR_FILENO, text, size);
    if (written < 0 && errno == EAGAIN) {
      struct pollfd stderrOnly = {STDERR_FILENO, POLLOUT, 0};
      poll(&stderrOnly, 1, -1);
    } else if (written < 0 && errno != EINTR) {
      return false;
    } else if (written > 0) {
      text += written;
      size -= size_t(written);
    }
  }
  return true;
}

/// Runtimes of the patches before the recorder's have none.
template <class Interface>
static auto dumpTrace(Interface *runtime, char *path, size_t size)
    -> decltype(runtime->dumpTrace(path, size)) {
  return runtime->dumpTrace && runtime->dumpTrace(path, size);
}
static bool dumpTrace(void *, char *, size_t) { return false; }

/// With the file of the recorder that has what led to it, if there is one.
/// \returns false if it cannot be written.
static bool writeReport(const Report &report) {
  static char text[2 * sizeof(Text)];
  static char path[PATH_MAX + 64];
  auto kind = report.Public.kind;
  auto size = report.Message.size();
  memcpy(text, report.Message.get(), size);
  if ((kind == swift_liveness_report_stuck ||
       kind == swift_liveness_report_pool_stalled) &&
      dumpTrace(Runtime, path, sizeof(path))) {
    static Text trace;
    trace.clear();
    trace.json("{");
    trace.fact("trace", "  what led to it is in %s\n", path);
    trace.json("}\n");
    // Instead of the object's end, and of the brace. The format may have changed since.
    bool isObject = UseJson && size > 1 && !memcmp(text + size - 2, "}\n", 2);
    size -= isObject ? 2 : 0;
    memcpy(text + size, trace.get(), trace.size());
    if (isObject)
      text[size] = ',';
    size += trace.size();
  }
  return writeAll(text, size);
}

static void runWriter() {
  uint64_t said = 0;
  for (;;) {
    WriterWake.wait();
    while (auto *report = ToWrite.first()) {
      if (!writeReport(*report))
        Unwritten.fetch_add(1, std::memory_order_relaxed);
      ToWrite.drop();
      auto unwritten = Unwritten.load(std::memory_order_relaxed);
      if (unwritten != said && !ToWrite.first() && !UseJson) {
        char text[96];
        int size = snprintf(text, sizeof(text),
                            "liveness: %llu reports could not be written\n",
                            (unsigned long long)(unwritten - said));
        if (writeAll(text, size_t(size)))
          said = unwritten;
      }
    }
    if (auto limit = TaskLimit.exchange(0))
      listTasks(limit, [](const char *text, size_t size) { writeAll(text, size); });
  }
}

void liveness::listTasksSoon(uint32_t limit) {
  TaskLimit.store(limit);
  WriterWake.post(); // also from a signal's handler
}

/*****************************************************************************/
/********************************** CALLING **********************************/
/*****************************************************************************/

/// For a moment only, never while something is called.
static pthread_mutex_t CallbackLock = PTHREAD_MUTEX_INITIALIZER;
static swift_liveness_callback Callback;
static void *CallbackContext;
/// Keeps the callback's library loaded.
static void *CallbackLibrary;
static std::atomic<bool> HasCallback, IsCalling, HasCaller;

static void runCaller() {
  for (;;) {
    CallerWake.wait();
    while (auto *report = ToCall.first()) {
      pthread_mutex_lock(&CallbackLock);
      auto callback = Callback;
      auto *context = CallbackContext;
      IsCalling.store(callback != nullptr);
      pthread_mutex_unlock(&CallbackLock);
      auto &to = report->Public;
      to.text = report->Message.get();
      if (to.thread) {
        describe(report->Info, report->Thread);
        to.thread = &report->Thread;
        to.checkpoints = report->Info.LastCheckpoints;
      }
      auto process = getpid();
      if (callback)
        callback(&to, context);
      if (getpid() != process)
        _exit(0); // A child of the callback: there is nothing to go on with.
      IsCalling.store(false);
      ToCall.drop();
    }
  }
}

bool liveness::callbackIsRunning() { return IsCalling.load(); }

bool liveness::startCallbackHelper() {
  return !HasCallback.load() || HasCaller.exchange(true) ||
         startHelper("swift-live-call", runCaller);
}

void liveness::setCallback(swift_liveness_callback callback, void *context) {
  // On the program's thread: these wait for the loader.
  Dl_info info;
  void *library = nullptr;
  if (callback && dladdr(reinterpret_cast<void *>(callback), &info) &&
      info.dli_fname)
    library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  pthread_mutex_lock(&CallbackLock);
  Callback = callback;
  CallbackContext = context;
  auto *old = CallbackLibrary;
  CallbackLibrary = library;
  HasCallback.store(callback != nullptr);
  bool mayGo = !IsCalling.load();
  pthread_mutex_unlock(&CallbackLock);
  // One that is being called keeps its library for good: a rare leak.
  if (old && mayGo)
    dlclose(old);
  startCallbackHelper();
}

void liveness::deliver(const Report &report, bool quiet, bool wait) {
  bool lost = false;
  if (!quiet && !ToWrite.put(report))
    lost = true;
  if (HasCallback.load() && !ToCall.put(report))
    lost = true;
  Unwritten.fetch_add(lost, std::memory_order_relaxed);
  WriterWake.post();
  CallerWake.post();
  for (unsigned i = 0; wait && i != 1000 && (ToWrite.first() || ToCall.first());
       ++i) {
    struct timespec millisecond = {0, long(NsPerMs)};
    nanosleep(&millisecond, nullptr);
  }
}

/*****************************************************************************/
/*********************************** PROBES **********************************/
/*****************************************************************************/

namespace {

/// A job that is not a task, as swift/ABI/Task.h lays it out.
struct alignas(16) ProbeJob {
  const void *Metadata;
  uintptr_t References;
  void *SchedulerPrivate[2];
  uint32_t Flags, Id;
  void *Voucher, *Reserved;
  __attribute__((swiftasynccall)) void (*Run)(ProbeJob *);
  /// The job's last access. Until then it belongs to the executor.
  std::atomic<bool> Ran;
};

} // namespace

static ProbeJob Probes[5];
static Helper ProberWake;
static std::atomic<uint32_t> ProbesToSend;
/// Those that the program's threads are born with. So are the pool's.
static sigset_t ProgramSignals;

static void runProber() {
  using Enqueue = __attribute__((swiftcall)) void(void *);
  auto *enqueue = reinterpret_cast<Enqueue *>(Known.EnqueueGlobal);
  for (;;) {
    ProberWake.wait();
    auto which = ProbesToSend.exchange(0);
    for (unsigned i = 0; enqueue && Known.JobMetadata && i != 5; ++i) {
      if (!(which & 1u << i))
        continue;
      auto &probe = Probes[i];
      constexpr uint32_t nullaryContinuation = 195;
      probe.Metadata = Known.JobMetadata;
      probe.References = 0;
      probe.Voucher = nullptr; // Who ran it has taken it.
      probe.Flags = nullaryContinuation | uint32_t(PoolPriorities[i]) << 8;
      probe.Run = [](ProbeJob *job) __attribute__((swiftasynccall)) {
        job->Ran.store(true, std::memory_order_release);
      };
      sigset_t own;
      pthread_sigmask(SIG_SETMASK, &ProgramSignals, &own);
      enqueue(&probe);
      pthread_sigmask(SIG_SETMASK, &own, nullptr);
    }
  }
}

void liveness::sendProbe(uint32_t which) {
  Probes[which].Ran.store(false, std::memory_order_relaxed);
  ProbesToSend.fetch_or(1u << which);
  ProberWake.post();
}

bool liveness::probeRan(uint32_t which) {
  return Probes[which].Ran.load(std::memory_order_acquire);
}

/*****************************************************************************/
/******************************** ALL OF THEM ********************************/
/*****************************************************************************/

/// Before the first start, and in the child of a fork, which has no helpers.
void liveness::resetHelpers() {
  for (auto &slot : NameSlots) {
    slot.State = NameSlot::Free;
    slot.Answered.reset();
  }
  for (auto *helper : {&NamerWake, &WriterWake, &CallerWake, &ProberWake})
    helper->reset();
  pthread_mutex_init(&CallbackLock, nullptr);
  ToWrite.reset();
  ToCall.reset();
  NamerIsStuck = IsCalling = HasCaller = false;
  TaskLimit = ProbesToSend = 0;
  Unwritten = 0;
}

bool liveness::startHelpers() {
  pthread_sigmask(SIG_SETMASK, nullptr, &ProgramSignals);
  // A pool's thread has the name of the one that makes it.
  return startHelper("swift-live-name", runNamer) &&
         startHelper("swift-live-write", runWriter) &&
         startHelper(nullptr, runProber) && startCallbackHelper();
}
