//===--- Tasks.cpp - The list of all tasks --------------------------------===//
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
// The runtime fills and frees places (Liveness.h). Each thread keeps free places in
// its record: those at hand, and a spare batch. Batches go over a common list, so a
// task costs no atomic read-modify-write, wherever it is made and destroyed. Places
// are never given back: 8 bytes for each task of the largest number of tasks at once,
// and up to 512 for each record of a thread.
//
// Only the thread that makes a task fills its place (release), and only the one
// that destroys it frees that, before the memory goes. Whoever reads a task by
// its place looks at the place again afterwards.
//
//===----------------------------------------------------------------------===//

#include "Internal.h"

#include <algorithm>
#include <cstdio>
#include <sys/mman.h>
#include <sys/resource.h>

using namespace swift;
using namespace swift::liveness;

using Place = std::atomic<uint64_t>;

/// The first Ready places of MaxPlaces are memory; UsedPlaces of them were taken.
static constexpr uint32_t PlacesAtOnce = 4096;
static uint32_t MaxPlaces;
static std::atomic<uint32_t> Ready, UsedPlaces;

/// The first batch in the low half; the high half counts changes, so that taking
/// fails when the list has changed. Looking is an acquire, giving a release.
static std::atomic<uint64_t> FreeBatches;
static constexpr uint32_t Batch = 32;

static Place &placeAt(uint32_t number) { return Runtime->Places[number]; }
static uint32_t nextOf(const Place &place) {
  return uint32_t(place.load(std::memory_order_relaxed)) >> 1;
}

/// Only addresses, 512 MB of them. They are memory when they are needed: a process
/// that locks its pages does not get all of them. And no more than there can be tasks.
bool liveness::reservePlaces() {
  if (Runtime->Places)
    return true;
  struct rlimit most;
  MaxPlaces = 1 << 26;
  if (!getrlimit(RLIMIT_AS, &most))
    MaxPlaces = uint32_t(
        std::min<uint64_t>(MaxPlaces, most.rlim_cur / sizeof(AsyncTask)));
  auto *memory = mmap(nullptr, MaxPlaces * sizeof(Place), PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return false;
  Runtime->MaxFree = Batch;
  Runtime->Places = static_cast<Place *>(memory);
  return true;
}

/// From bit 33 of its first place, a batch has the next one.
static void giveBatch(uint32_t first) {
  auto next = freePlace(nextOf(placeAt(first)));
  auto head = FreeBatches.load(std::memory_order_relaxed);
  do {
    placeAt(first).store(uint64_t(uint32_t(head)) << 33 | next,
                         std::memory_order_relaxed);
  } while (!FreeBatches.compare_exchange_weak(
      head, ((head >> 32) + 1) << 32 | first, std::memory_order_release,
      std::memory_order_relaxed));
}

static uint32_t takeBatch() {
  auto head = FreeBatches.load(std::memory_order_acquire);
  while (auto first = uint32_t(head)) {
    auto next = placeAt(first).load(std::memory_order_relaxed) >> 33;
    // Relaxed: no head comes twice, so this reads what the load has acquired.
    if (FreeBatches.compare_exchange_weak(head, ((head >> 32) + 1) << 32 | next,
                                          std::memory_order_relaxed,
                                          std::memory_order_acquire))
      return first;
  }
  return 0;
}

/// Places that no task had before. \returns 0 if there is no room.
static uint32_t makeBatch() {
  auto begin = UsedPlaces.load(std::memory_order_relaxed);
  do {
    auto end = begin - begin % PlacesAtOnce + PlacesAtOnce;
    auto ready = Ready.load(std::memory_order_acquire);
    if (ready < end &&
        (end > MaxPlaces ||
         mprotect(Runtime->Places, end * sizeof(Place), PROT_READ | PROT_WRITE)))
      return 0;
    while (ready < end &&
           !Ready.compare_exchange_weak(ready, end, std::memory_order_release,
                                        std::memory_order_relaxed))
      ;
  } while (!UsedPlaces.compare_exchange_weak(begin, begin + Batch,
                                             std::memory_order_relaxed));
  uint32_t first = 0;
  for (auto i = begin + Batch; i-- != begin;)
    if (i) {
      placeAt(i).store(freePlace(first), std::memory_order_relaxed);
      first = i;
    }
  return first;
}

uint32_t liveness::takePlaces(Record *record) {
  auto first = record->SparePlace;
  record->SparePlace = 0;
  if (!first && !(first = takeBatch()))
    first = makeBatch();
  record->FreePlace = first;
  record->FreeCount = 0;
  for (auto i = first; i; i = nextOf(placeAt(i)))
    ++record->FreeCount;
  return first;
}

void liveness::givePlaces(Record *record, uint32_t place) {
  if (!record) {
    placeAt(place).store(freePlace(0), std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    return giveBatch(place);
  }
  if (record->SparePlace)
    giveBatch(record->SparePlace);
  record->SparePlace = record->FreePlace;
  record->FreePlace = record->FreeCount = 0;
}

/// Other threads were perhaps about to change theirs when the process forked.
void liveness::forgetFreePlaces() {
  for (uint32_t i = 0; i != recordCount(); ++i) {
    auto &record = Runtime->recordAt(i);
    record.FreePlace = record.FreeCount = record.SparePlace = 0;
  }
}

bool liveness::isLive(const void *task, uint32_t place) {
  bool isPlace = place && place < Ready.load(std::memory_order_acquire);
  // What was read of the task comes first.
  std::atomic_thread_fence(std::memory_order_acquire);
  // One that was made while the monitor was off has no place.
  return isPlace ? (placeAt(place).load(std::memory_order_relaxed) & ~LeakedBit) ==
                       reinterpret_cast<uint64_t>(task)
                 : !place;
}

/// The task is read as others are: if its program has resumed it all the same, by
/// the unsafe continuation, it may be gone. Whoever frees the place takes the mark
/// away with what was there.
void liveness::didLeak(const void *task) {
  Peek peek;
  TaskInfo info;
  if (!readTask(peek, task, info, nullptr, false) || !info.Place ||
      info.Place >= Ready.load(std::memory_order_acquire))
    return;
  auto word = reinterpret_cast<uint64_t>(task);
  auto &place = placeAt(info.Place);
  place.compare_exchange_strong(word, word | LeakedBit,
                                std::memory_order_relaxed,
                                std::memory_order_relaxed);
}

bool liveness::hasLeaked(uint32_t place) {
  return place && placeAt(place).load(std::memory_order_relaxed) & LeakedBit;
}

/*****************************************************************************/
/************************************ TREE ***********************************/
/*****************************************************************************/

namespace {

struct Node {
  uint64_t Task, Parent;
  uint32_t FirstChild, Next; ///< index + 1
  uint32_t Place;
};

/// The lister's own: names of functions and types, by address.
struct CachedName {
  const void *Address;
  char Name[128];
};

} // namespace

static CachedName NameCache[512];

static const char *nameOf(const void *address, NameRequest::Kind kind,
                          const void *closure = nullptr) {
  if (!address)
    return "";
  auto hash = reinterpret_cast<uintptr_t>(address);
  auto &cached = NameCache[(hash ^ hash >> 9) % 512];
  if (cached.Address != address) {
    static NameRequest request;
    request.Count = 0;
    request.add(address, kind, closure);
    findNames(request, 2000 * NsPerMs); // this thread may wait
    snprintf(cached.Name, sizeof(cached.Name), "%s", request.Name[0]);
    // A number may be a name later, and closures of one thunk differ.
    bool isName = strncmp(cached.Name, "0x", 2) && !closure;
    cached.Address = isName ? address : nullptr;
  }
  return cached.Name;
}

/// \param parent null: it has none.
static void addTaskLine(Text &text, Peek &peek, const Text::Time &time,
                        const Node &node, const Node *parent, unsigned depth) {
  TaskInfo info;
  auto *task = reinterpret_cast<const void *>(node.Task);
  // It may have ended since its place was read, and its memory be another task's.
  if (!readTask(peek, task, info) || info.Place != node.Place ||
      !isLive(task, info.Place))
    return;
  static const char *const states[] = {"running", "enqueued", "suspended",
                                       "complete"};
  auto age = Runtime->Now.load(std::memory_order_relaxed) - info.LastRun;
  uint64_t other = 0;
  if (info.Dependency == 1) {
    TaskInfo awaited;
    if (readTask(peek, info.DependsOn, awaited, nullptr, false))
      other = awaited.Id;
  }
  if (UseJson) {
    text.begin(time);
    text.fact("kind", nullptr, "task");
    text.fact("depth", nullptr, depth);
    TaskInfo of;
    if (parent && readTask(peek, reinterpret_cast<const void *>(parent->Task),
                           of, nullptr, false))
      text.fact("parent", nullptr, of.Id);
    text.fact("priority", nullptr, info.Priority);
  } else {
    text.add("liveness:   %*s", int(depth < 40 ? depth : 40) * 2, "");
  }
  text.fact("task", "task %llu", info.Id);
  text.fact("name", " \"%s\"", info.Name);
  text.fact("state", ", %s", states[info.State]);
  if (info.Dependency == 4 && info.DependsOn)
    addExecutor(text, info.DependsOn,
                nameOf(info.ExecutorType, NameRequest::Type));
  else if (info.Dependency == 4 && !UseJson)
    text.add(" on the pool");
  text.fact("last_run_ms_ago", ", last run %llu ms ago", age);
  text.fact("function", ", in %s",
            nameOf(info.Function, NameRequest::Function, info.Closure));
  if (other)
    text.fact("waits_for_task", ", waits for task %llu", other);
  if (info.Dependency == 2) {
    text.fact("waits_for", ", waits for a %s", "continuation");
    if (hasLeaked(info.Place))
      text.fact("continuation", " that has %s", "leaked");
  }
  if (info.Dependency == 3)
    text.fact("waits_for", ", waits for its %s", "group");
  text.add(UseJson ? "}\n" : "\n");
}

void liveness::listTasks(uint32_t limit,
                         void (*write)(const char *, size_t)) {
  static Text text;
  auto flush = [&](bool all) {
    if (text.size() && (all || text.room() < 2048)) {
      write(text.get(), text.size());
      text.clear();
    }
  };
  auto used = Ready.load(std::memory_order_acquire);
  size_t size = (size_t(used) + 1) * sizeof(Node);
  auto *nodes = static_cast<Node *>(allocatePages(size));
  if (!nodes)
    return;
  uint32_t count = 0;
  Peek peek;
  peek.keepPages();
  for (uint32_t i = 1; i < used; ++i) {
    auto task = placeAt(i).load(std::memory_order_acquire);
    if (task && !(task & 1)) {
      nodes[count].Task = task & ~LeakedBit;
      nodes[count++].Place = i;
    }
  }
  std::sort(nodes, nodes + count,
            [](const Node &a, const Node &b) { return a.Task < b.Task; });
  auto find = [&](uint64_t task) {
    auto *found = std::lower_bound(
        nodes, nodes + count, task,
        [](const Node &node, uint64_t task) { return node.Task < task; });
    return found != nodes + count && found->Task == task ? found : nullptr;
  };
  // Children in front of their siblings. Node 0 of a list is at index + 1.
  uint32_t roots = 0;
  for (uint32_t i = count; i--;) {
    TaskInfo info;
    auto *task = reinterpret_cast<const void *>(nodes[i].Task);
    uint64_t parent = readTask(peek, task, info, nullptr, false) ? info.Parent
                                                                 : 0;
    auto *node = parent && parent != nodes[i].Task ? find(parent) : nullptr;
    auto &first = node ? node->FirstChild : roots;
    nodes[i].Parent = node ? uint64_t(node - nodes) + 1 : 0;
    nodes[i].Next = first;
    first = i + 1;
  }
  if (!UseJson) {
    text.begin();
    text.add("%u live tasks\n", count);
  }
  // Down to the first child, else to the sibling, else up. A parent's memory may
  // have changed between two reads, so a cycle cannot be ruled out.
  uint32_t printed = 0, depth = 0;
  Text::Time time;
  for (uint32_t at = roots; at && printed < count && printed != limit;
       ++printed) {
    auto &node = nodes[at - 1];
    addTaskLine(text, peek, time, node,
                node.Parent ? &nodes[node.Parent - 1] : nullptr, depth);
    flush(false);
    if (nodes[at - 1].FirstChild) {
      at = nodes[at - 1].FirstChild;
      ++depth;
      continue;
    }
    while (at && !nodes[at - 1].Next) {
      at = uint32_t(nodes[at - 1].Parent);
      depth -= depth != 0;
    }
    if (at)
      at = nodes[at - 1].Next;
  }
  if (printed < count && !UseJson)
    text.add("liveness:   and %u more\n", count - printed);
  flush(true);
  munmap(nodes, size);
}
