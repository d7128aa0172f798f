// The list of tasks. A place holds a task, or an odd number while it is free. Threads exchange
// batches of free places over a common list, whose head counts changes: so taking fails when the
// list has changed. Only the thread that makes a task fills its place, and only the one that
// destroys it frees that, before the memory goes. Whoever has read a task by its place looks at
// the place again. Places are memory only below a limit, which grows before they are used.
//
// Here a batch has two places, a link in a free place is 1 + 2 * (the next one, and 8 times the
// next batch), and the head is 8 times the number of changes, and the first place.

// REQUIRES: relacy
// RUN: %check-model

// FAULT give=relaxed/relaxed: USER ASSERT FAILED
// FAULT head=relaxed: USER ASSERT FAILED
// FAULT take=relaxed/relaxed: USER ASSERT FAILED
// FAULT -tag: USER ASSERT FAILED|ACCESS TO FREED MEMORY
// FAULT fill=relaxed: USER ASSERT FAILED
// FAULT find=relaxed: USER ASSERT FAILED
// FAULT gone=relaxed: USER ASSERT FAILED
// FAULT read=relaxed: USER ASSERT FAILED
// FAULT -look-again: USER ASSERT FAILED
// FAULT look-ready=relaxed: USER ASSERT FAILED
// FAULT make-ready=relaxed/relaxed: USER ASSERT FAILED
// FAULT find-ready=relaxed: USER ASSERT FAILED
// FAULT -make-first: USER ASSERT FAILED

#include "model.h"

static Order Link("link"), LookHead("look-head"), Give("give"), Head("head"), Take("take"), Fill("fill"), Find("find"),
    Gone("gone"), Read("read"), Again("again"), Use("use"), LookReady("look-ready"), MakeReady("make-ready"),
    FindReady("find-ready");
static Step Tag("tag"), LookAgain("look-again"), MakeFirst("make-first");

/// Each thread takes a batch, fills its places, frees them and gives them back; one does so twice.
struct Batches : rl::test_suite<Batches, 2> {
  Atomic<int> places[5], head;
  int owners[5] = {};

  static int freePlace(int next, int nextBatch) { return 1 + 2 * (next + 8 * nextBatch); }
  static int nextOf(int place) { return place / 2 % 8; }

  void before() {
    head.rl::atomic<int>::store(1, rl::mo_relaxed, $);
    int words[] = {0, freePlace(2, 3), freePlace(0, 0), freePlace(4, 0), freePlace(0, 0)};
    for (int i = 0; i != 5; ++i)
      places[i].rl::atomic<int>::store(words[i], rl::mo_relaxed, $);
  }

  void giveBatch(int first) {
    int next = nextOf(places[first].load(Link)), old = head.load(LookHead);
    do
      places[first].store(freePlace(next, old % 8), Link);
    while (!head.swapWeak(old, Tag ? (old / 8 + 1) * 8 + first : first, Give));
  }

  int takeBatch() {
    int old = head.load(Head);
    while (int first = old % 8) {
      int next = places[first].load(Link) / 16;
      if (head.swapWeak(old, Tag ? (old / 8 + 1) * 8 + next : next, Take))
        return first;
    }
    return 0;
  }

  void thread(unsigned index) {
    for (unsigned i = 0; i != 1 + index; ++i) {
      int first = takeBatch(), other = takeBatch();
      for (int batch : {other, first}) {
        if (!batch)
          continue;
        int word = places[batch].load(Link), next = nextOf(word);
        RL_ASSERT(word & 1 && next == batch + 1 && nextOf(places[next].load(Link)) == 0);
        RL_ASSERT(!owners[batch]++ && !owners[next]++);
        places[batch].store(100, Link);
        places[next].store(100, Link);
        --owners[batch], --owners[next];
        places[next].store(freePlace(0, 0), Link);
        places[batch].store(freePlace(next, 0), Link);
        giveBatch(batch);
      }
    }
  }

  void after() {
    // None is lost.
    int first = head.newest() % 8, second = places[first].newest() / 16;
    RL_ASSERT(first + second == 4 && places[second].newest() / 16 == 0);
  }
};

/// Thread 1 makes a task, and destroys it; something else has its memory then. Thread 0 reads it.
struct Life : rl::test_suite<Life, 2> {
  static constexpr int Task = 2, Free = 1;
  Atomic<int> place, memory;

  void before() {
    place.rl::atomic<int>::store(Free, rl::mo_relaxed, $);
    memory.rl::atomic<int>::store(0, rl::mo_relaxed, $);
  }

  void thread(unsigned index) {
    if (index == 1) {
      memory.store(Task, Link);
      place.store(Task, Fill);
      place.store(Free, Link);
      fence(Gone);
      memory.store(9, Link);
      return;
    }
    if (place.load(Find) != Task)
      return;
    int content = memory.load(Link);
    fence(Read);
    RL_ASSERT(content == Task || (LookAgain && place.load(Again) != Task));
  }
};

/// Threads 1 and 2 each take a place that no task had before. Whoever is first makes both memory.
/// Thread 0 looks at all that there are.
struct Grow : rl::test_suite<Grow, 3> {
  static constexpr int AtOnce = 2;
  Atomic<int> isMemory, ready, used;
  int owners[AtOnce] = {};

  void before() {
    for (auto *word : {&isMemory, &ready, &used})
      word->rl::atomic<int>::store(0, rl::mo_relaxed, $);
  }

  void thread(unsigned index) {
    if (index == 0) {
      RL_ASSERT(!ready.load(FindReady) || isMemory.load(Link));
      return;
    }
    int begin = used.load(Use);
    do {
      int known = ready.load(LookReady);
      if (known < AtOnce && MakeFirst)
        isMemory.store(1, Link);
      while (known < AtOnce && !ready.swapWeak(known, AtOnce, MakeReady))
        ;
    } while (!used.swapWeak(begin, begin + 1, Use));
    RL_ASSERT(isMemory.load(Link) && !owners[begin]++);
  }
};

int main(int argc, char **argv) { return search<Life, Batches, Grow>(argc, argv, /*bound*/ 2); }
