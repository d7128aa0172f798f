// The index of an image's conformances. Who searches and finds none marks the slot with a
// compare-and-swap, makes the index, and releases it. Who loads the slot with acquire finds nothing,
// the mark, or the index. Nobody waits for the index: whoever cannot have it scans.
//
// The first search only notes, relaxed, that it has scanned, and the note publishes nothing: the model
// begins after it.
//
// A child of fork() has the slot as it was in its parent. The mark of another process is replaced,
// so that the child makes the index itself: here the slot begins with such a mark, and two
// threads of the child search.

// REQUIRES: relacy
// RUN: %check-model

// FAULT load-index=relaxed: DATA RACE
// FAULT publish=relaxed: DATA RACE
// FAULT -claim: DATA RACE
// FAULT -index-first: DATA RACE
// FAULT -other-process: USER ASSERT FAILED

// The mark itself publishes nothing: mark is relaxed.

#include "model.h"

static Order LoadIndex("load-index"), Mark("mark"), Publish("publish");
static Step Claim("claim"), IndexFirst("index-first"), OtherProcess("other-process");

struct Index : rl::test_suite<Index, 3> {
  static constexpr int Parent = 1, Child = 3, Made = 4;
  Atomic<int> slot;
  Plain<int> index;

  void before() { slot.rl::atomic<int>::store(Parent, rl::mo_relaxed, $); }

  /// Whether the index could be used.
  bool search() {
    int value = slot.load(LoadIndex);
    if (value == Made) {
      RL_ASSERT(index.read() == 1);
      return true;
    }
    if (value == Child || (!OtherProcess && value == Parent))
      return false;
    if (Claim && !slot.swap(value, Child, Mark))
      return false;
    if (IndexFirst)
      index.write(1);
    slot.store(Made, Publish);
    if (!IndexFirst)
      index.write(1);
    RL_ASSERT(index.read() == 1);
    return true;
  }

  void thread(unsigned) {
    search();
    search();
  }

  /// Not for ever without an index.
  void after() { RL_ASSERT(slot.newest() == Made); }
};

int main(int argc, char **argv) { return ::search<Index>(argc, argv); }
