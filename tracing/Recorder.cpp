//===--- Recorder.cpp - A flight recorder of Swift concurrency ------------===//
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
// Memory is a number of chunks. A thread that has something to record owns a
// ring, and a ring owns one chunk at a time, which only that thread writes. When
// the chunk is full the ring takes another one: the oldest that nobody owns, or,
// if all is kept, the next of the file. So an event takes no lock and no locked
// instruction, and threads share no line; a chunk takes one locked instruction
// or two.
//
// WHO READS. A dump copies chunks while their owners write. Writer of a chunk:
//
//   Sequence = 0; fence(release); a 0; header; Sequence = n (release)
//   of an event: its further words; a 0 behind it; its first word (release)
//
// Reader:
//
//   s = Sequence (acquire); for each event its first word (acquire), until that
//   is 0, then the others; fence(acquire); Sequence must be s still
//
// An event whose first word is there is whole, and what follows it is of this
// use, or 0. A reader that gets a word of the chunk's next use gets that Sequence,
// or 0, after its fence, as the writer's fence comes before that word.
//
// Two events that often follow each other at once are one: its writer stores the
// first word again, with swift_trace_joined, before it writes the next event. A
// reader that has got the next one reads the word before it again.
//
// A signal handler may interrupt an event, and have one itself: that one is
// counted as lost. Nothing here allocates, or calls what may take a lock, but
// while the library is loaded; so all may be called by signal handlers.
//
//===----------------------------------------------------------------------===//

#include "SwiftConcurrencyTrace.h"

#include "Liveness.h"
#include "Tracing.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

using swift::concurrency::trace::Event;
using swift::concurrency::trace::Recorder;

namespace {

#define PRESERVE __attribute__((preserve_most))

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

constexpr uint64_t NsPerSecond = 1000000000;
uint8_t Clock;

uint64_t nanoseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return uint64_t(now.tv_sec) * NsPerSecond + uint64_t(now.tv_nsec);
}

PRESERVE __attribute__((noinline)) uint64_t monotonic() {
  return nanoseconds(CLOCK_MONOTONIC);
}

inline uint64_t ticks() {
#if defined(__x86_64__)
  if (__builtin_expect(Clock == swift_trace_clock_tsc, true))
    return __rdtsc();
#elif defined(__aarch64__)
  if (__builtin_expect(Clock == swift_trace_clock_cntvct, true)) {
    uint64_t value;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
  }
#endif
  return monotonic();
}

/// The two times belong together, and the thread may lose its processor between them:
/// of some pairs, the one that took least.
void readClocks(uint64_t &inTicks, uint64_t &inNs) {
  uint64_t shortest = 0;
  for (unsigned i = 0; i != 5; ++i) {
    auto before = ticks(), ns = nanoseconds(CLOCK_MONOTONIC);
    auto took = ticks() - before;
    if (!i || took < shortest) {
      shortest = took;
      inTicks = before;
      inNs = ns;
    }
  }
}

uint8_t chooseClock() {
#if defined(__x86_64__)
  unsigned a, b, c, d;
  // Whether the counter goes on at one rate, whatever the processor does. While the
  // system is suspended, it may stop, or begin anew: readers compare the two clocks.
  if (__get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1 << 8))
    return swift_trace_clock_tsc;
#elif defined(__aarch64__)
  return swift_trace_clock_cntvct;
#endif
  return swift_trace_clock_monotonic;
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

using Word = std::atomic<uint64_t>;
constexpr size_t HeaderSize = 4096;
constexpr size_t StreamChunk = 65536;
constexpr uint64_t MaxAhead = 16; ///< chunks that a file has more than it needs

/// The settings; they change while the library is loaded, and in a fork's child.
size_t ChunkSize;
uint32_t ChunkCount; ///< of memory; 0: all is written to a file
char *Chunks;
char StreamPattern[PATH_MAX], StreamPath[PATH_MAX + 16], Folder[PATH_MAX];
int StreamFile = -1;
struct stat StreamStatus; ///< which file that is
swift_trace_header *StreamHeader;
uint64_t StreamLimit;
/// The file system takes no blocks in advance: zeroes are written. The first piece
/// tells, while there is no other thread.
bool MustWrite;

swift_trace_header Base; ///< what all files of this process begin with

/// Who owns a chunk: 0 nobody, or 1 + the ring's number.
std::atomic<uint32_t> *Owners;
/// How many events there are in a chunk that nobody owns.
std::atomic<uint32_t> *Kept;
/// The next chunk to take: of memory modulo ChunkCount.
std::atomic<uint64_t> NextChunk;
/// Of a file: all chunks before this one have their blocks.
std::atomic<uint64_t> Reserved;
/// A thread writes to the header of the file.
std::atomic<bool> IsUpdating;
/// Chunks before this one are those of the parent of a fork.
uint64_t FirstSequence = 1;
std::atomic<uint64_t> Overwritten, LostByOthers;
std::atomic<int> Error;

struct Chunk {
  swift_trace_chunk Header;

  std::atomic<uint64_t> &sequence() {
    return reinterpret_cast<std::atomic<uint64_t> &>(Header.sequence);
  }
  Word *words() { return reinterpret_cast<Word *>(this + 1); }
  Word *end() { return reinterpret_cast<Word *>((char *)this + ChunkSize); }
};
static_assert(sizeof(Chunk) == 64, "as the specification says");
static_assert(sizeof(Word) == 8, "plain words");

constexpr unsigned KindCount = 128;
constexpr unsigned MaxDepth = 16;
/// Words of an event, with the notes that may come before it and a 0 behind it.
constexpr unsigned MaxSize = 15 + 4 + 1;

/// What a thread has. Only the owner uses it, except Owner and the counts.
struct alignas(128) Ring {
  /// The owner; 0: none. A thread is it from when it stores its ID there (acquire)
  /// until it stores 0 (release).
  std::atomic<uint32_t> Owner;
  bool IsBusy;   ///< in an event
  bool HasRun;   ///< a job, on this thread
  uint8_t Depth; ///< jobs that run
  uint16_t Number;
  Word *Next;
  Word *Limit; ///< events begin before it; null: something is to be done first
  Word *Last;  ///< the event before Next, if another one may join it
  uint64_t TimeBase, LastTime;
  Chunk *Current;
  uint32_t CurrentIndex; ///< of memory
  uint32_t Events;       ///< in the chunk
  uint32_t ChunksTaken;
  std::atomic<uint32_t> Lost; ///< not noted yet
  std::atomic<uint64_t> AllLost;
  uint32_t RetryAt;
  uint64_t Running[MaxDepth];
  Word Counts[KindCount];
  Word Waits[24];
  Word WaitUnits; ///< the sum of these waits
};

/// Of threads that have found no ring.
Word CountsOfOthers[KindCount];

constexpr uint32_t MaxRings = 4096;
Ring *Rings;
std::atomic<uint32_t> RingCount;
pthread_key_t ExitKey;
/// A few bytes, so that the loader finds room for them in the static block.
__thread Ring *Own __attribute__((tls_model("initial-exec")));
/// Events of a thread that has found no ring until it looks for one again: it
/// goes over all rings.
__thread uint32_t SkipEnter __attribute__((tls_model("initial-exec")));

/// When tasks were put into queues: the low 24 bits of the ID, then 40 bits of
/// the time in units of 64 ticks. A task that another one has pushed out is not
/// counted.
constexpr size_t WaitSlots = 65536;
Word *Waiting;
uint64_t MicrosecondsPerUnit; ///< of these 64 ticks, times 2^40

template <class T> void add(std::atomic<T> &count, T value) {
  // The owner's own: no locked instruction.
  count.store(count.load(std::memory_order_relaxed) + value,
              std::memory_order_relaxed);
}

Chunk *chunkAt(uint32_t index) {
  return reinterpret_cast<Chunk *>(Chunks + size_t(index) * ChunkSize);
}

/// While it lives, a write may fail for a pipe that nobody reads, or for the limit of
/// a file, without the signal that would end the program.
class WithoutSignals {
  sigset_t signals, old;

public:
  WithoutSignals() {
    sigset_t pending;
    sigemptyset(&signals);
    sigpending(&pending);
    for (int number : {SIGPIPE, SIGXFSZ})
      if (!sigismember(&pending, number))
        sigaddset(&signals, number);
    pthread_sigmask(SIG_BLOCK, &signals, &old);
  }

  ~WithoutSignals() {
    auto error = errno;
    struct timespec now = {};
    while (sigtimedwait(&signals, nullptr, &now) >= 0 || errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
    errno = error;
  }
};

/// In one piece, and without a buffer: the stack of a signal handler may be small.
template <class... Parts> void say(Parts... parts) {
  WithoutSignals guard;
  struct iovec pieces[] = {{const_cast<char *>(parts), strlen(parts)}...};
  (void)!writev(STDERR_FILENO, pieces, sizeof...(parts));
}

/// strerror_r translates, for which it takes a lock and memory: not in a handler, and
/// not in a fork's child.
const char *describe(int error) {
  switch (error) {
  case EACCES:
    return "Permission denied";
  case EDQUOT:
    return "Disk quota exceeded";
  case EFBIG:
    return "File too large";
  case EIO:
    return "Input/output error";
  case EISDIR:
    return "Is a directory";
  case ELOOP:
    return "Too many levels of symbolic links";
  case EMFILE:
  case ENFILE:
    return "Too many open files";
  case ENAMETOOLONG:
    return "File name too long";
  case ENOENT:
    return "No such file or directory";
  case ENOLCK:
    return "No locks available";
  case ENOMEM:
    return "Cannot allocate memory";
  case ENOSPC:
    return "No space left on device";
  case ENOTDIR:
    return "Not a directory";
  case EPERM:
    return "Operation not permitted";
  case EROFS:
    return "Read-only file system";
  default:
    return "the system refuses it";
  }
}

/// One thread writes the two times at a time, and others leave it to that one.
void updateStream() {
  if (IsUpdating.exchange(true, std::memory_order_acquire))
    return;
  auto *header = StreamHeader;
  readClocks(header->last_ticks, header->last_monotonic_ns);
  uint64_t lost = LostByOthers.load(std::memory_order_relaxed);
  for (uint32_t i = 0, n = RingCount.load(std::memory_order_relaxed); i != n; ++i)
    lost += Rings[i].AllLost.load(std::memory_order_relaxed);
  header->lost = lost;
  IsUpdating.store(false, std::memory_order_release);
}

/// \returns false.
bool endStream(int error, const char *what, const char *why) {
  int none = 0;
  if (!Error.compare_exchange_strong(none, error))
    return false;
  if (StreamHeader)
    StreamHeader->error = error;
  say("error: SWIFT_TRACE: ", what, why,
      "\nhint: events from here on are lost, and counted\n");
  return false;
}

/// Whether StreamFile is the trace: programs close all files that they do not know,
/// as daemons do, and then the number may be that of a file of theirs. The inode is
/// not used again while the header is mapped.
bool isStreamOpen() {
  struct stat status;
  return !fstat(StreamFile, &status) && status.st_dev == StreamStatus.st_dev &&
         status.st_ino == StreamStatus.st_ino;
}

/// As isStreamOpen; if not, no more is recorded.
bool checkStream() {
  return isStreamOpen() ||
         endStream(EBADF, "the program has closed the file of the trace", "");
}

/// \returns false if the file cannot get longer. Its blocks are there then: a
/// full disk must not be found by writing to memory.
bool extend(uint64_t offset, size_t size) {
  int error = 0;
  WithoutSignals guard;
  if (offset + size > StreamLimit) {
    error = EFBIG;
  } else {
    if (!MustWrite)
      do
        error = fallocate(StreamFile, 0, off_t(offset), off_t(size)) ? errno : 0;
      while (error == EINTR);
    if (!StreamHeader)
      MustWrite = error == EOPNOTSUPP || error == ENOSYS;
    static const char zeroes[HeaderSize] = {};
    if (MustWrite)
      for (error = 0; size && !error; size -= HeaderSize, offset += HeaderSize)
        if (pwrite(StreamFile, zeroes, HeaderSize, off_t(offset)) !=
            ssize_t(HeaderSize))
          error = errno ? errno : ENOSPC;
  }
  return !error ||
         endStream(error, "the trace cannot get longer: ", describe(error));
}

/// Makes room for this chunk, and for as many as there are before it, up to
/// MaxAhead: file systems take blocks at less cost in one piece. Threads may
/// reserve the same blocks twice, but none is left out: each begins at Reserved.
/// Zeroes are written only to this chunk, which nobody else has: others may have
/// events already.
bool reserve(uint64_t number) {
  if (MustWrite) {
    updateStream();
    return extend(HeaderSize + number * StreamChunk, StreamChunk);
  }
  auto from = Reserved.load(std::memory_order_relaxed);
  if (number < from)
    return true;
  auto to = number + 1 + std::min(number, MaxAhead - 1);
  if (!extend(HeaderSize + from * StreamChunk, (to - from) * StreamChunk))
    return false;
  while (from < to && !Reserved.compare_exchange_weak(
                          from, to, std::memory_order_relaxed))
    ;
  updateStream();
  return true;
}

/// \returns a chunk of zeroes of the file.
Chunk *mapChunk(uint64_t number) {
  if (Error.load(std::memory_order_relaxed)) {
    // The process may be killed: what is lost is counted before.
    if (StreamHeader)
      updateStream();
    return nullptr;
  }
  if (!checkStream() || !reserve(number))
    return nullptr;
  auto offset = HeaderSize + number * StreamChunk;
  auto *memory = mmap(nullptr, StreamChunk, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_POPULATE, StreamFile, off_t(offset));
  if (memory == MAP_FAILED) {
    endStream(errno, "no memory for the trace: ", describe(errno));
    return nullptr;
  }
  // Another thread may have closed it meanwhile. Nothing is written yet.
  if (checkStream())
    return static_cast<Chunk *>(memory);
  munmap(memory, StreamChunk);
  return nullptr;
}

void leaveChunk(Ring *ring) {
  if (!ring->Current)
    return;
  if (ChunkCount) {
    Kept[ring->CurrentIndex].store(ring->Events, std::memory_order_relaxed);
    Owners[ring->CurrentIndex].store(0, std::memory_order_release);
  } else {
    munmap(ring->Current, StreamChunk);
  }
  ring->Current = nullptr;
  ring->Next = ring->Limit = ring->Last = nullptr;
}

/// If the thread of this ring has exited, its chunk is free from here on. The ring
/// has this thread as its owner meanwhile. \returns whether it is free.
bool leaveForExited(Ring *ring, uint32_t index) {
  auto own = uint32_t(syscall(SYS_gettid));
  uint32_t nobody = 0;
  if (ring->Owner.load(std::memory_order_relaxed) ||
      !ring->Owner.compare_exchange_strong(nobody, own, std::memory_order_acquire,
                                           std::memory_order_relaxed))
    return false;
  bool isIts = ring->Current && ring->CurrentIndex == index;
  if (isIts)
    leaveChunk(ring);
  ring->Owner.store(0, std::memory_order_release);
  return isIts;
}

/// The ring has no chunk. \returns false if there is none.
bool takeChunk(Ring *ring, uint64_t now) {
  Chunk *chunk = nullptr;
  uint64_t sequence = 0;
  if (ChunkCount) {
    for (uint32_t tries = 0; tries != ChunkCount && !chunk; ++tries) {
      auto number = NextChunk.fetch_add(1, std::memory_order_relaxed);
      auto index = uint32_t(number % ChunkCount);
      uint32_t nobody = 0;
      auto owner = Owners[index].load(std::memory_order_relaxed);
      if ((owner && !leaveForExited(&Rings[owner - 1], index)) ||
          !Owners[index].compare_exchange_strong(nobody, ring->Number + 1u,
                                                 std::memory_order_acquire,
                                                 std::memory_order_relaxed))
        continue;
      chunk = chunkAt(index);
      sequence = number + 1;
      ring->CurrentIndex = index;
      // The child of a fork has nothing of the parent's to lose.
      if (chunk->sequence().load(std::memory_order_relaxed) >= FirstSequence)
        Overwritten.fetch_add(Kept[index].load(std::memory_order_relaxed),
                              std::memory_order_relaxed);
    }
    if (!chunk)
      return false;
    chunk->sequence().store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    chunk->words()->store(0, std::memory_order_relaxed);
  } else {
    auto number = NextChunk.fetch_add(1, std::memory_order_relaxed);
    if (!(chunk = mapChunk(number)))
      return false;
    sequence = number + 1;
  }
  auto &header = chunk->Header;
  header.type = swift_trace_chunk_events;
  header.ring = ring->Number;
  header.index = ++ring->ChunksTaken;
  header.thread_id = ring->Owner.load(std::memory_order_relaxed);
  header.time_base = now;
  header.depth = ring->Depth;
  header.running =
      ring->Depth ? ring->Running[std::min<unsigned>(ring->Depth, MaxDepth) - 1]
                  : 0;
  ring->Limit = chunk->end() - MaxSize;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  header.lost = ring->Lost.load(std::memory_order_relaxed);
  prctl(PR_GET_NAME, header.thread_name);
  ring->Lost.store(0, std::memory_order_relaxed);
  header.magic = SWIFT_TRACE_CHUNK_MAGIC;
  chunk->sequence().store(sequence, std::memory_order_release);
  ring->Current = chunk;
  ring->Next = chunk->words();
  ring->Last = nullptr;
  ring->TimeBase = ring->LastTime = now;
  ring->Events = 0;
  return true;
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

constexpr unsigned TimeShift = 24;

inline void putWords(Ring *ring, uint64_t head, uint64_t now,
                     const uint64_t *words, unsigned count) {
  auto *at = ring->Next, *behind = at + count + 1;
  for (unsigned i = 1; i <= count; ++i)
    at[i].store(words[i - 1], std::memory_order_relaxed);
  behind->store(0, std::memory_order_relaxed);
  at->store(head | (now - ring->TimeBase) << TimeShift,
            std::memory_order_release);
  ring->Next = behind;
  ring->Last = nullptr;
  ++ring->Events;
}

uint64_t headOf(unsigned kind, unsigned words, unsigned argument = 0) {
  return kind | words << 8 | argument << 12;
}

/// \returns false if there is no room.
PRESERVE __attribute__((noinline)) bool makeRoom(Ring *ring, uint64_t now) {
  if (!ring->Current || ring->Next >= ring->Current->end() - MaxSize) {
    if (!ring->Current && ring->RetryAt && --ring->RetryAt)
      return false;
    leaveChunk(ring);
    if (!takeChunk(ring, now)) {
      // Not to be tried for each event: it goes over all chunks.
      ring->RetryAt = 1024;
      return false;
    }
    ring->RetryAt = 0;
    return true;
  }
  if ((now - ring->TimeBase) >> 40) {
    ring->TimeBase = now;
    putWords(ring, headOf(swift_trace_time, 2), now, &now, 1);
  }
  ring->Limit = ring->Current->end() - MaxSize;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (uint64_t lost = ring->Lost.load(std::memory_order_relaxed)) {
    ring->Lost.store(0, std::memory_order_relaxed);
    putWords(ring, headOf(swift_trace_lost, 2), now, &lost, 1);
  }
  return true;
}

PRESERVE __attribute__((noinline)) void lose(Ring *ring) {
  add(ring->Lost, uint32_t(1));
  add(ring->AllLost, uint64_t(1));
  ring->Limit = ring->Last = nullptr;
}

/// \returns whether the thread is not in an event already.
inline bool enterEvent(Ring *ring) {
  if (__builtin_expect(ring->IsBusy, false)) {
    lose(ring);
    return false;
  }
  ring->IsBusy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return true;
}

inline void endEvent(Ring *ring) {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  ring->IsBusy = false;
}

inline uint64_t newTime(Ring *ring) {
  // A thread that has moved to another processor may be a little earlier there. If the
  // counter has begun anew, the ring has this time from here on.
  return ring->LastTime = std::max(ticks(), ring->LastTime);
}

/// \returns false if the event is lost.
inline bool hasRoom(Ring *ring, uint64_t now) {
  if (__builtin_expect(ring->Next >= ring->Limit || (now - ring->TimeBase) >> 40,
                       false) &&
      !makeRoom(ring, now)) {
    lose(ring);
    return false;
  }
  return true;
}

/// \returns the time for an event; 0: it is lost.
inline uint64_t beginEvent(Ring *ring) {
  if (!enterEvent(ring))
    return 0;
  auto now = newTime(ring);
  if (hasRoom(ring, now))
    return now;
  endEvent(ring);
  return 0;
}

void beginThread(Ring *ring, uint32_t threadId) {
  struct {
    uint64_t Thread;
    char Name[16];
  } words = {threadId, {}};
  prctl(PR_GET_NAME, words.Name);
  ring->Depth = 0;
  ring->HasRun = false;
  // A new chunk has the thread in its header.
  bool continues = ring->Current;
  if (auto now = beginEvent(ring)) {
    if (continues)
      putWords(ring, headOf(swift_trace_thread, 4), now,
               reinterpret_cast<uint64_t *>(&words), 3);
    endEvent(ring);
  }
}

/// Runs when a thread exits. The ring keeps its chunk for the next one, or until
/// another thread needs one.
void leaveThread(void *ring) {
  Own = nullptr;
  static_cast<Ring *>(ring)->Owner.store(0, std::memory_order_release);
}

/// \returns null if there are too many threads.
PRESERVE __attribute__((noinline)) Ring *enterThread() {
  auto threadId = uint32_t(syscall(SYS_gettid));
  for (uint32_t i = SkipEnter ? MaxRings : 0; i != MaxRings; ++i) {
    auto &ring = Rings[i];
    uint32_t nobody = 0;
    if (ring.Owner.load(std::memory_order_relaxed) ||
        !ring.Owner.compare_exchange_strong(nobody, threadId,
                                            std::memory_order_acquire,
                                            std::memory_order_relaxed))
      continue;
    ring.Number = uint16_t(i);
    auto count = RingCount.load(std::memory_order_relaxed);
    while (count <= i && !RingCount.compare_exchange_weak(
                             count, i + 1, std::memory_order_relaxed))
      ;
    ring.IsBusy = false;
    if (ChunkCount) {
      // Threads of Dispatch block it with most others, and then abort() calls no
      // handler. A program that waits for it blocks no SIGWINCH.
      sigset_t mask;
      if (!pthread_sigmask(SIG_BLOCK, nullptr, &mask) &&
          sigismember(&mask, SIGABRT) && sigismember(&mask, SIGWINCH)) {
        sigemptyset(&mask);
        sigaddset(&mask, SIGABRT);
        pthread_sigmask(SIG_UNBLOCK, &mask, nullptr);
      }
    }
    Own = &ring;
    pthread_setspecific(ExitKey, &ring);
    beginThread(&ring, threadId);
    return &ring;
  }
  SkipEnter = SkipEnter ? SkipEnter - 1 : 1024;
  LostByOthers.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

inline Ring *ownRing() {
  auto *ring = Own;
  return __builtin_expect(ring != nullptr, true) ? ring : enterThread();
}

void noteQueued(uint64_t task, uint64_t now) {
  Waiting[task % WaitSlots].store(task << 40 | (now >> 6 & ((1ull << 40) - 1)),
                                  std::memory_order_relaxed);
}

void countWait(Ring *ring, uint64_t task, uint64_t now) {
  auto slot = Waiting[task % WaitSlots].load(std::memory_order_relaxed);
  if (!slot || slot >> 40 != (task & 0xffffff))
    return;
  Waiting[task % WaitSlots].store(0, std::memory_order_relaxed);
  // 40 bits with a sign: the other processor's counter may be a little ahead.
  auto difference = int64_t(((now >> 6) - slot) << 24) >> 24;
  auto waited = uint64_t(std::max<int64_t>(difference, 0));
  add(ring->WaitUnits, waited);
  auto microseconds = uint64_t(
      static_cast<unsigned __int128>(waited) * MicrosecondsPerUnit >> 40);
  // How many bits it has.
  unsigned bucket = 63 - __builtin_clzll(2 * microseconds | 1);
  add(ring->Waits[std::min(bucket, 23u)], uint64_t(1));
}

PRESERVE __attribute__((noinline)) void beginJobs(Ring *ring) {
  ring->HasRun = true;
  if (auto now = beginEvent(ring)) {
    putWords(ring, headOf(swift_trace_thread_first_job, 1), now, nullptr, 0);
    endEvent(ring);
  }
}

/// Whether a bit of the thread's last event tells this one, of this kind and task.
/// If so, it sets that. There is no other event between them, so little time: a new
/// task is enqueued, or runs, and one that waits leaves the thread.
inline bool joins(Ring *ring, unsigned kind, uint64_t task) {
  auto *last = ring->Last;
  if (!last ||
      (kind != swift_trace_enqueue_global && kind != swift_trace_run_end))
    return false;
  auto head = last->load(std::memory_order_relaxed);
  auto lastKind = head & 0xff;
  if (kind == swift_trace_run_end
          ? lastKind != swift_trace_task_wait
          : (lastKind != swift_trace_task_create &&
             lastKind != swift_trace_task_resume) ||
                last[1].load(std::memory_order_relaxed) != task)
    return false;
  last->store(head | swift_trace_joined, std::memory_order_relaxed);
  ring->Last = nullptr;
  return true;
}

/// Keeps the registers of its caller, and calls in it, too, so that it saves none
/// on the usual way.
PRESERVE void record(uint32_t head, uint64_t first, uint64_t second) {
  auto *ring = ownRing();
  unsigned size = head >> 8 & 15, kind = head & 0xff;
  if (!ring) {
    CountsOfOthers[kind % KindCount].fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (__builtin_expect(kind == swift_trace_run && !ring->HasRun, false))
    beginJobs(ring);
  // What is lost is counted, too, and jobs begin and end. Of a handler that
  // interrupts just this, the count may be lost where it takes several instructions.
  add(ring->Counts[kind % KindCount], uint64_t(1));
  if (!enterEvent(ring))
    return;
  auto now = ring->LastTime;
  if (!joins(ring, kind, first)) {
    now = newTime(ring);
    if (hasRoom(ring, now)) {
      auto *at = ring->Next;
      if (size > 1)
        at[1].store(first, std::memory_order_relaxed);
      if (size > 2)
        at[2].store(second, std::memory_order_relaxed);
      at[size].store(0, std::memory_order_relaxed);
      at->store(head | (now - ring->TimeBase) << TimeShift,
                std::memory_order_release);
      ring->Next = at + size;
      ring->Last = at;
    }
  }
  ++ring->Events; // the next chunk begins at 0: without one, this does no harm
  if (kind == swift_trace_run) {
    if (ring->Depth < MaxDepth)
      ring->Running[ring->Depth] =
          head >> 12 & swift_trace_not_task ? 0 : first;
    ++ring->Depth;
    countWait(ring, first, now);
  } else if (kind == swift_trace_run_end) {
    if (ring->Depth)
      --ring->Depth;
  } else if (kind == swift_trace_enqueue_global ||
             kind == swift_trace_enqueue_main) {
    noteQueued(first, now);
  } else if (kind == swift_trace_actor_enqueue) {
    noteQueued(second, now);
  }
  endEvent(ring);
}

void recordName(uint64_t task, const char *name) {
  auto *ring = ownRing();
  if (!ring)
    return;
  uint64_t words[9] = {task};
  auto size = strnlen(name, 64);
  // Not in the middle of a character of UTF-8.
  if (size == 64)
    for (size = 63; size && (name[size] & 0xC0) == 0x80;)
      --size;
  memcpy(words + 1, name, size);
  unsigned count = 2 + unsigned(size / 8);
  if (auto now = beginEvent(ring)) {
    putWords(ring, headOf(swift_trace_task_name, count + 1), now, words, count);
    endEvent(ring);
  }
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// One at a time writes a file; with what that needs.
std::atomic<bool> IsDumping;
alignas(64) char Buffer[StreamChunk];
uint32_t DumpCount; ///< with IsDumping
std::atomic<uint32_t> LivenessDumps;

swift_trace_counters sumCounters() {
  swift_trace_counters sum = {};
  sum.size = sizeof(sum);
  sum.version = 2;
  sum.monotonic_ns = nanoseconds(CLOCK_MONOTONIC);
  uint64_t units = 0;
  auto forAll = [](auto add) {
    add(CountsOfOthers);
    for (uint32_t i = 0, n = RingCount.load(std::memory_order_relaxed); i != n;
         ++i)
      add(Rings[i].Counts);
  };
  auto of = [](const Word *counts, unsigned kind) {
    return counts[kind].load(std::memory_order_relaxed);
  };
  // What ends comes first: a task that one thread creates and another one destroys
  // meanwhile must not count as destroyed only.
  forAll([&](const Word *counts) {
    sum.tasks_destroyed += of(counts, swift_trace_task_destroy);
    sum.jobs_run += of(counts, swift_trace_run);
    sum.sleeps_ended += of(counts, swift_trace_sleep_end);
    sum.sleeps_cancelled += of(counts, swift_trace_sleep_cancel);
  });
  std::atomic_thread_fence(std::memory_order_acquire);
  forAll([&](const Word *counts) {
    sum.tasks_created += of(counts, swift_trace_task_create);
    sum.tasks_cancelled += of(counts, swift_trace_task_cancel);
    sum.jobs_enqueued += of(counts, swift_trace_enqueue_global) +
                         of(counts, swift_trace_enqueue_main) +
                         of(counts, swift_trace_actor_enqueue);
    sum.hops += of(counts, swift_trace_task_switch);
    sum.pool_steals += of(counts, swift_trace_pool_steal);
    sum.pool_wakes += of(counts, swift_trace_pool_wake);
    sum.pool_stand_ins += of(counts, swift_trace_pool_stand_in);
    sum.pool_parks += of(counts, swift_trace_pool_park);
    sum.sleeps_begun += of(counts, swift_trace_sleep_begin);
  });
  for (uint32_t i = 0, n = RingCount.load(std::memory_order_relaxed); i != n;
       ++i) {
    for (unsigned b = 0; b != 24; ++b)
      sum.waits[b] += Rings[i].Waits[b].load(std::memory_order_relaxed);
    units += Rings[i].WaitUnits.load(std::memory_order_relaxed);
  }
  sum.waits_ns = uint64_t(static_cast<unsigned __int128>(units) *
                          (MicrosecondsPerUnit * 1000) >> 40);
  return sum;
}

/// Begins a chunk of another type in the buffer.
swift_trace_chunk &beginBuffer(uint16_t type) {
  memset(Buffer, 0, ChunkSize);
  auto &header = *reinterpret_cast<swift_trace_chunk *>(Buffer);
  header.magic = SWIFT_TRACE_CHUNK_MAGIC;
  header.type = type;
  header.time_base = ticks();
  header.sequence = NextChunk.load(std::memory_order_relaxed) + 1;
  return header;
}

void copyCounters() {
  beginBuffer(swift_trace_chunk_counters);
  auto sum = sumCounters();
  memcpy(Buffer + sizeof(swift_trace_chunk), &sum, sizeof(sum));
}

/// The memory of the process, which may not be there: an image may be unloaded
/// meanwhile. Filters of system calls do not stop this.
int Memory = -1;
bool peek(uint64_t from, void *to, size_t size) {
  return pread(Memory, to, size, off_t(from)) == ssize_t(size);
}

/// Completes a module from the headers in its memory.
void readModule(swift_trace_module &module) {
  Elf64_Ehdr header;
  if (!peek(module.begin, &header, sizeof(header)) ||
      memcmp(header.e_ident, ELFMAG, SELFMAG) ||
      header.e_phentsize != sizeof(Elf64_Phdr))
    return;
  bool hasBase = false;
  for (unsigned i = 0; i != header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!peek(module.begin + header.e_phoff + i * sizeof(segment), &segment,
              sizeof(segment)))
      return;
    if (segment.p_type == PT_LOAD && !hasBase) {
      hasBase = true;
      module.base = module.begin - (segment.p_vaddr - segment.p_offset);
    }
    if (segment.p_type != PT_NOTE)
      continue;
    char notes[512];
    auto size = std::min<size_t>(segment.p_filesz, sizeof(notes));
    if (!peek(module.base + segment.p_vaddr, notes, size))
      continue;
    for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= size;) {
      Elf64_Nhdr note;
      memcpy(&note, notes + at, sizeof(note));
      at += sizeof(note);
      auto value = at + ((note.n_namesz + 3) & ~3u);
      if (value + note.n_descsz > size)
        break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
          !memcmp(notes + at, "GNU", 4)) {
        module.build_id_size = uint16_t(
            std::min<size_t>(note.n_descsz, sizeof(module.build_id)));
        memcpy(module.build_id, notes + value, module.build_id_size);
      }
      at = value + ((note.n_descsz + 3) & ~3u);
    }
  }
}

/// Calls `write` for each chunk of modules that the buffer gets. The loader is
/// not asked: it may hold its lock.
template <class Write> void copyModules(Write write) {
  int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (maps < 0)
    return;
  Memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  static char text[8192];
  static char path[PATH_MAX];
  size_t have = 0, used = sizeof(swift_trace_chunk);
  alignas(8) static char room[sizeof(swift_trace_module)];
  auto *last = reinterpret_cast<swift_trace_module *>(room);
  path[0] = 0;
  beginBuffer(swift_trace_chunk_modules);
  auto finish = [&] {
    if (!path[0])
      return;
    readModule(*last);
    last->path_size = uint16_t(strlen(path));
    last->size = uint32_t((sizeof(*last) + last->path_size + 8) & ~7ull);
    if (used + last->size + 8 > ChunkSize) {
      write();
      beginBuffer(swift_trace_chunk_modules);
      used = sizeof(swift_trace_chunk);
    }
    memcpy(Buffer + used, last, sizeof(*last));
    memcpy(Buffer + used + sizeof(*last), path, last->path_size);
    used += last->size;
  };
  auto line = [&](char *at) {
    char *end;
    auto from = strtoull(at, &end, 16), to = strtoull(end + 1, &end, 16);
    auto offset = strtoull(end + 6, &end, 16);
    auto *name = strchr(at, '/');
    if (!name)
      return;
    if (!strcmp(name, path) && from >= last->begin) {
      last->end = to;
      return;
    }
    if (offset)
      return;
    finish();
    memset(room, 0, sizeof(room));
    last->begin = from;
    last->base = from;
    last->end = to;
    strncpy(path, name, sizeof(path) - 1);
  };
  for (;;) {
    auto got = read(maps, text + have, sizeof(text) - 1 - have);
    if (got <= 0)
      break;
    have += size_t(got);
    text[have] = 0;
    char *at = text;
    while (auto *end = strchr(at, '\n')) {
      *end = 0;
      line(at);
      at = end + 1;
    }
    have = size_t(text + have - at);
    if (at == text && have == sizeof(text) - 1)
      have = 0;
    memmove(text, at, have);
  }
  close(maps);
  finish();
  close(Memory);
  write();
}

/// Copies a chunk while its owner may write it. \returns how many events it has;
/// 0: it was taken for something else meanwhile, or is empty.
uint32_t copyChunk(Chunk *chunk) {
  auto sequence = chunk->sequence().load(std::memory_order_acquire);
  if (sequence < FirstSequence)
    return 0;
  memcpy(Buffer, chunk, sizeof(swift_trace_chunk));
  auto *to = reinterpret_cast<uint64_t *>(Buffer + sizeof(swift_trace_chunk));
  auto *end = reinterpret_cast<uint64_t *>(Buffer + ChunkSize);
  auto *from = chunk->words();
  uint32_t events = 0;
  for (size_t before = 0; to < end;) {
    auto head = from->load(std::memory_order_acquire);
    size_t size = head >> 8 & 15;
    if (!(head & 0xff) || !size || to + size > end)
      break;
    // Another event may have joined it meanwhile.
    if (events) {
      auto *last = from - before;
      *(to - before) = last->load(std::memory_order_relaxed);
    }
    before = size;
    *to = head;
    for (size_t i = 1; i != size; ++i)
      to[i] = from[i].load(std::memory_order_relaxed);
    to += size;
    from += size;
    ++events;
  }
  memset(to, 0, size_t((char *)end - (char *)to));
  std::atomic_thread_fence(std::memory_order_acquire);
  return chunk->sequence().load(std::memory_order_relaxed) == sequence ? events
                                                                       : 0;
}

bool writeAll(int file, const void *data, size_t size) {
  auto *at = static_cast<const char *>(data);
  while (size) {
    auto written = write(file, at, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0) {
      if (!written)
        errno = ENOSPC;
      return false;
    }
    at += written;
    size -= size_t(written);
  }
  return true;
}

swift_trace_header makeHeader(uint8_t reason, int number) {
  auto header = Base;
  header.reason = reason;
  header.signal = uint8_t(number);
  readClocks(header.last_ticks, header.last_monotonic_ns);
  header.overwritten = Overwritten.load(std::memory_order_relaxed);
  header.lost = LostByOthers.load(std::memory_order_relaxed);
  for (uint32_t i = 0, n = RingCount.load(std::memory_order_relaxed); i != n; ++i)
    header.lost += Rings[i].AllLost.load(std::memory_order_relaxed);
  return header;
}

/// \returns how many bytes were written, or -1 with errno.
int64_t dumpTo(int file, uint8_t reason, int number) {
  WithoutSignals guard;
  auto header = makeHeader(reason, number);
  memset(Buffer, 0, HeaderSize);
  memcpy(Buffer, &header, sizeof(header));
  if (!writeAll(file, Buffer, HeaderSize))
    return -1;
  bool isWritten = true;
  auto writeBuffer = [&] {
    isWritten = isWritten && writeAll(file, Buffer, ChunkSize);
    ++header.chunk_count;
  };
  copyModules(writeBuffer);
  copyCounters();
  writeBuffer();
  for (uint32_t i = 0; i != ChunkCount && isWritten; ++i)
    if (copyChunk(chunkAt(i)))
      writeBuffer();
  if (!isWritten)
    return -1;
  header.is_complete = 1;
  if (pwrite(file, &header, sizeof(header), 0) != ssize_t(sizeof(header)))
    return -1;
  return int64_t(HeaderSize + header.chunk_count * ChunkSize);
}

/// The chunks that a stream gets at its begin and end. \returns false if it cannot
/// get one.
bool streamBuffer() {
  auto number = NextChunk.fetch_add(1, std::memory_order_relaxed);
  auto *chunk = mapChunk(number);
  if (!chunk)
    return false;
  memcpy(chunk, Buffer, ChunkSize);
  chunk->Header.sequence = number + 1;
  munmap(chunk, StreamChunk);
  return true;
}

/// Not in the child of a fork that has no file of its own.
bool isRecording() { return ChunkCount || StreamHeader; }

/// Where a file without a path of the caller's went. With IsDumping, as the stack of
/// a signal handler may be small.
char DumpPath[PATH_MAX + 64];

/// With IsDumping. \param path null: one is made.
int64_t dumpNow(const char *path, uint8_t reason, int number) {
  if (!isRecording()) {
    errno = ENODEV;
    return -1;
  }
  if (!ChunkCount) {
    // The events are in the file already.
    strcpy(DumpPath, StreamPath);
    copyCounters();
    if (!streamBuffer()) {
      errno = Error.load(std::memory_order_relaxed);
      return -1;
    }
    updateStream();
    return int64_t(HeaderSize +
                   NextChunk.load(std::memory_order_relaxed) * StreamChunk);
  }
  int file = -1;
  if (path)
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  else
    // The number of a process comes again: after exec, or at once in a container.
    do {
      snprintf(DumpPath, sizeof(DumpPath), "%s/swift-%d-%u.trace", Folder, getpid(),
               ++DumpCount);
      file = open(DumpPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    } while (file < 0 && errno == EEXIST);
  if (file < 0)
    return -1;
  auto size = dumpTo(file, reason, number);
  auto error = errno;
  close(file);
  errno = error;
  return size;
}

/// \param made gets the path that is made if `path` is null.
int64_t dump(const char *path, uint8_t reason, char *made = nullptr,
             size_t madeSize = 0) {
  if (IsDumping.exchange(true, std::memory_order_acquire)) {
    errno = EBUSY;
    return -1;
  }
  auto size = dumpNow(path, reason, 0);
  auto error = errno;
  if (made)
    snprintf(made, madeSize, "%s", DumpPath);
  IsDumping.store(false, std::memory_order_release);
  errno = error;
  return size;
}

void dumpAndSay(uint8_t reason, int number, const char *why) {
  if (IsDumping.exchange(true, std::memory_order_acquire)) {
    // Another thread that crashes, too, of the same signal or another one, is not to
    // end the process before: it waits here for up to two seconds.
    for (unsigned i = 0; i != 200 && reason == swift_trace_reason_crash &&
                         IsDumping.load(std::memory_order_relaxed);
         ++i) {
      struct timespec wait = {0, 10000000};
      nanosleep(&wait, nullptr);
    }
    return;
  }
  if (dumpNow(nullptr, reason, number) >= 0)
    say("trace: ", why, ": wrote ", DumpPath, "\n");
  else
    say("error: SWIFT_TRACE: cannot write ", DumpPath, ": ", describe(errno),
        "\nhint: SWIFT_TRACE_FOLDER is the folder for traces\n");
  IsDumping.store(false, std::memory_order_release);
}

/// For reports of the liveness monitor, a few in a process. \returns false if
/// there is none.
bool dumpForReport(char *path, size_t size) {
  if (LivenessDumps.load(std::memory_order_relaxed) >= 4 ||
      LivenessDumps.fetch_add(1, std::memory_order_relaxed) >= 4)
    return false;
  return dump(nullptr, swift_trace_reason_liveness, path, size) >= 0;
}

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

constexpr int CrashSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP,
                                SIGABRT, SIGFPE, SIGSYS};
struct sigaction OldActions[NSIG];

void onCrash(int number, siginfo_t *info, void *) {
  auto error = errno;
  auto &old = OldActions[number];
  // The signal is blocked meanwhile: a crash in here ends the process.
  dumpAndSay(swift_trace_reason_crash, number, "crash");
  // Not before: until now, this signal of another thread is to come here, too.
  sigaction(number, &old, nullptr);
  // The old action is not called from here: it wants its own mask, stack and flags.
  // What has trapped traps again, but not a system call that a filter has refused.
  // What somebody has sent is sent again, as it came.
  if ((info->si_code <= 0 || number == SIGTRAP || number == SIGSYS) &&
      syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), number, info))
    raise(number);
  errno = error;
}

void onRequest(int number) {
  auto error = errno;
  if (isRecording())
    dumpAndSay(swift_trace_reason_signal, number, "signal");
  errno = error;
}

void catchSignals(int request) {
  struct sigaction action = {};
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  action.sa_sigaction = onCrash;
  if (ChunkCount)
    for (int number : CrashSignals)
      sigaction(number, &action, &OldActions[number]);
  if (request) {
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    action.sa_handler = onRequest;
    sigaction(request, &action, nullptr);
  }
}

//===----------------------------------------------------------------------===//
// The begin, forks and the end
//===----------------------------------------------------------------------===//

Recorder *Runtime;

void *allocate(size_t size) {
  auto *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void beginBase() {
  memcpy(Base.magic, SWIFT_TRACE_MAGIC, sizeof(Base.magic));
  Base.byte_order = SWIFT_TRACE_BYTE_ORDER;
  Base.version = SWIFT_TRACE_VERSION;
#if defined(__x86_64__)
  Base.machine = EM_X86_64;
#else
  Base.machine = EM_AARCH64;
#endif
  Base.header_size = HeaderSize;
  Base.chunk_size = uint32_t(ChunkSize);
  Base.process_id = uint32_t(getpid());
  Base.clock = Clock;
  Base.first_realtime_ns = nanoseconds(CLOCK_REALTIME);
  readClocks(Base.first_ticks, Base.first_monotonic_ns);
  if (!Base.ticks_per_second) {
    Base.ticks_per_second = NsPerSecond;
    if (Clock != swift_trace_clock_monotonic) {
      uint64_t last, now;
      do
        readClocks(last, now);
      while (now - Base.first_monotonic_ns < NsPerSecond / 1000);
      Base.ticks_per_second = uint64_t(double(last - Base.first_ticks) *
                                       double(NsPerSecond) /
                                       double(now - Base.first_monotonic_ns));
    }
    auto size = readlink("/proc/self/exe", Base.program, sizeof(Base.program) - 1);
    Base.program[std::max<ssize_t>(size, 0)] = 0;
  }
  MicrosecondsPerUnit =
      uint64_t(64e6 * double(1ull << 40) / double(Base.ticks_per_second));
}

bool fail(const char *name, const char *value, const char *why, const char *hint) {
  say("error: ", name, "=", value, ": ", why, "\nhint: ", hint, "\n");
  return false;
}

bool openStream() {
  auto &path = StreamPath;
  size_t used = 0;
  for (auto *at = StreamPattern; *at && used + 12 < sizeof(path); ++at)
    if (at[0] == '%' && at[1] == 'p') {
      used += size_t(snprintf(path + used, 12, "%d", getpid()));
      ++at;
    } else {
      path[used++] = *at;
    }
  path[used] = 0;
  struct stat status;
  int file = -1;
  auto refuse = [&](const char *why, const char *hint) {
    if (file >= 0)
      close(file);
    return fail("SWIFT_TRACE", path, why, hint);
  };
  const char *name = "nothing is recorded; name a file that can be written, or 1";
  for (bool hasMoved = false;; hasMoved = true) {
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0)
      return refuse(describe(errno), name);
    auto refuseOther = [&] {
      return refuse("another process writes it",
                    "nothing is recorded; %p in the name is the process");
    };
    if (flock(file, LOCK_EX | LOCK_NB))
      return errno == EWOULDBLOCK ? refuseOther() : refuse(describe(errno), name);
    if (fstat(file, &status) || !S_ISREG(status.st_mode))
      return refuse("not a regular file", name);
    // Another one may have moved it before this one had the lock.
    struct stat named;
    if (stat(path, &named) || named.st_dev != status.st_dev ||
        named.st_ino != status.st_ino)
      return refuseOther();
    // Somebody who made an empty file, in a folder of all, could make it shorter.
    if (!status.st_size && status.st_uid != geteuid())
      return refuse("another user's file", name);
    if (!status.st_size)
      break;
    // The trace of the program that this process was before exec(), say.
    static char kept[sizeof(StreamPath) + 4];
    snprintf(kept, sizeof(kept), "%s.old", path);
    if (hasMoved || rename(path, kept))
      return refuse(describe(errno),
                    "nothing is recorded; move away the file of this name");
    close(file);
  }
  struct rlimit limit;
  StreamLimit = getrlimit(RLIMIT_FSIZE, &limit) ? UINT64_MAX : limit.rlim_cur;
  // Programs that close what they have inherited often begin at 3, and some end at
  // 255. select() takes files up to 1023.
  if (!getrlimit(RLIMIT_NOFILE, &limit)) {
    auto most = int(std::min<rlim_t>(limit.rlim_cur, FD_SETSIZE));
    int high = fcntl(file, F_DUPFD_CLOEXEC, most - most / 8);
    if (high >= 0) {
      close(file); // the lock is that of both
      file = high;
    }
  }
  StreamFile = file;
  StreamStatus = status;
  Error = 0;
  MustWrite = false;
  if (!extend(0, HeaderSize)) { // it has said why
    close(file);
    StreamFile = -1;
    return false;
  }
  auto *memory =
      mmap(nullptr, HeaderSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) {
    StreamFile = -1;
    return refuse(describe(errno), name);
  }
  StreamHeader = static_cast<swift_trace_header *>(memory);
  *StreamHeader = Base;
  StreamHeader->last_ticks = StreamHeader->last_monotonic_ns = 0;
  copyModules(streamBuffer);
  return true;
}

void turnOn() {
  Runtime->RecordName = recordName;
  Runtime->Record = record;
  Runtime->Listeners->fetch_add(1);
}

void turnOff() {
  Runtime->Record = nullptr;
  Runtime->RecordName = nullptr;
  Runtime->Listeners->fetch_sub(1);
}

/// There is only this thread. The child begins anew; a file is the parent's, if
/// it does not have one of its own.
void afterFork() {
  Own = nullptr;
  pthread_setspecific(ExitKey, nullptr);
  SkipEnter = 0;
  bool isStream = !ChunkCount;
  auto had = sumCounters();
  auto count = RingCount.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i != count; ++i) {
    if (isStream && Rings[i].Current)
      munmap(Rings[i].Current, StreamChunk);
    memset(static_cast<void *>(&Rings[i]), 0, sizeof(Ring));
  }
  RingCount = 1;
  // Tasks that it has of its parent end here.
  Rings[0].Counts[swift_trace_task_create] =
      had.tasks_created - had.tasks_destroyed;
  Rings[0].Counts[swift_trace_sleep_begin] =
      had.sleeps_begun - had.sleeps_ended - had.sleeps_cancelled;
  Overwritten = LostByOthers = 0;
  for (auto &count : CountsOfOthers)
    count = 0;
  DumpCount = 0;
  LivenessDumps = 0;
  IsDumping = false;
  if (isStream) {
    if (isStreamOpen())
      close(StreamFile);
    munmap(StreamHeader, HeaderSize);
    StreamFile = -1;
    StreamHeader = nullptr;
    IsUpdating = false;
    NextChunk = Reserved = 0;
  } else {
    for (uint32_t i = 0; i != ChunkCount; ++i)
      Owners[i].store(0, std::memory_order_relaxed);
    FirstSequence = NextChunk.load(std::memory_order_relaxed) + 1;
  }
  if (!Runtime->Record)
    return;
  beginBase();
  if (isStream && (!strstr(StreamPattern, "%p") || !openStream()))
    turnOff();
}

uint32_t readNumber(const char *name, uint32_t min, uint32_t max,
                    uint32_t fallback) {
  const char *value = secure_getenv(name);
  if (!value || !*value)
    return fallback;
  char *end;
  errno = 0;
  auto number = strtoul(value, &end, 10);
  if (!*end && !errno && *value >= '0' && *value <= '9' && number >= min &&
      number <= max)
    return uint32_t(number);
  char why[64], hint[64];
  snprintf(why, sizeof(why), "not a number from %u to %u", min, max);
  snprintf(hint, sizeof(hint), "%u is used", fallback);
  fail(name, value, why, hint);
  return fallback;
}

int readSignal() {
  const char *value = secure_getenv("SWIFT_TRACE_SIGNAL");
  if (!value || !*value)
    return 0;
  // One handler would replace the other.
  const char *timeout = secure_getenv("SWIFT_LIVENESS_TIMEOUT");
  const char *other = secure_getenv("SWIFT_LIVENESS_SIGNAL");
  if (timeout && *timeout && strcmp(timeout, "0") && other &&
      !strcmp(value, other)) {
    fail("SWIFT_TRACE_SIGNAL", value, "SWIFT_LIVENESS_SIGNAL is that, too",
         "name another one of USR1, USR2 and QUIT; it lists the live tasks");
    return 0;
  }
  if (!strcmp(value, "USR1"))
    return SIGUSR1;
  if (!strcmp(value, "USR2"))
    return SIGUSR2;
  if (!strcmp(value, "QUIT"))
    return SIGQUIT;
  fail("SWIFT_TRACE_SIGNAL", value, "not a signal for this",
       "name USR1, USR2 or QUIT; no signal is used");
  return 0;
}

bool readFolder() {
  const char *value = secure_getenv("SWIFT_TRACE_FOLDER");
  if (!value || !*value)
    value = ".";
  if (!realpath(value, Folder) || access(Folder, W_OK | X_OK))
    return fail("SWIFT_TRACE_FOLDER", value, describe(errno),
                "nothing is recorded; name a folder that can be written");
  return true;
}

bool start(const char *what) {
  Clock = chooseClock();
  const char *clock = secure_getenv("SWIFT_TRACE_CLOCK");
  if (clock && !strcmp(clock, "monotonic"))
    Clock = swift_trace_clock_monotonic;
  else if (clock && *clock)
    fail("SWIFT_TRACE_CLOCK", clock, "not a clock for this",
         "name monotonic; the processor's counter is used");
  bool isStream = strcmp(what, "1") != 0;
  size_t size = size_t(readNumber("SWIFT_TRACE_SIZE", 1, 65536, 8)) << 20;
  ChunkSize = isStream ? StreamChunk : size >= 4 << 20 ? 16384 : 4096;
  ChunkCount = isStream ? 0 : uint32_t(size / ChunkSize);
  Rings = static_cast<Ring *>(allocate(MaxRings * sizeof(Ring)));
  Waiting = static_cast<Word *>(allocate(WaitSlots * sizeof(Word)));
  if (!isStream) {
    Chunks = static_cast<char *>(allocate(size));
    Owners = static_cast<std::atomic<uint32_t> *>(
        allocate(ChunkCount * 2 * sizeof(uint32_t)));
    Kept = Owners + ChunkCount;
  }
  if (!Rings || !Waiting || (!isStream && (!Chunks || !Owners)))
    return fail("SWIFT_TRACE", what, "no memory", "nothing is recorded");
  if (pthread_key_create(&ExitKey, leaveThread) ||
      pthread_atfork(nullptr, nullptr, afterFork))
    return fail("SWIFT_TRACE", what, "no key for threads", "nothing is recorded");
  beginBase();
  if (isStream) {
    if (strlen(what) >= sizeof(StreamPattern))
      return fail("SWIFT_TRACE", what, "too long", "nothing is recorded");
    strcpy(StreamPattern, what);
    if (!openStream())
      return false;
  } else if (!readFolder()) {
    return false;
  }
  catchSignals(readSignal());
  return true;
}

/// The process ends. Other threads may still run.
__attribute__((destructor)) void finish() {
  if (!Runtime || !Runtime->Record || ChunkCount || !StreamHeader ||
      IsDumping.exchange(true, std::memory_order_acquire))
    return;
  copyModules(streamBuffer);
  copyCounters();
  streamBuffer();
  updateStream();
  StreamHeader->is_complete = 1;
  IsDumping.store(false, std::memory_order_release);
}

} // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int64_t swift_trace_dump(const char *path) {
  if (Runtime && Runtime->Record)
    return dump(path, swift_trace_reason_call);
  errno = ENODEV;
  return -1;
}

EXPORTED bool swift_concurrency_getCounters(swift_trace_counters *counters) {
  if (!Runtime || !Runtime->Record)
    return false;
  auto sum = sumCounters();
  auto size = std::min<size_t>(counters->size, sizeof(sum));
  memcpy(counters, &sum, size);
  if (size >= sizeof(sum.size))
    counters->size = uint32_t(size);
  return true;
}

/// Called once, by the runtime that loads this library. \returns false if it is
/// another version's.
EXPORTED bool swift_trace_attach(Recorder *runtime) {
  if (runtime->Version != 3 || runtime->Size != sizeof(Recorder))
    return false;
  const char *what = secure_getenv("SWIFT_TRACE");
  if (!what || !*what || !strcmp(what, "0"))
    return true;
  if (Runtime) {
    fail("SWIFT_TRACE", what, "another copy of the runtime is recorded",
         "nothing of this one is recorded");
    return true;
  }
  Runtime = runtime;
  if (start(what)) {
    runtime->DumpForReport = dumpForReport;
    turnOn();
  }
  return true;
}
