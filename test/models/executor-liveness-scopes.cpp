// A thread's checkpoints are its own: it stores an id in a ring, and then the count. Others read
// the count, the ids before it, and the count again. The owner may be writing over the oldest one
// of a full ring, so that one does not count. Name and timeout of a scope are fields as the job
// is: see executor-liveness-marks.cpp.
//
// Here the ring has two places, and the id is the checkpoint's number.

// REQUIRES: relacy
// RUN: %check-model

// FAULT id=relaxed: USER ASSERT FAILED
// FAULT count=relaxed: USER ASSERT FAILED
// FAULT read-count=relaxed: USER ASSERT FAILED
// FAULT read-fence=relaxed: USER ASSERT FAILED
// FAULT -one-less: USER ASSERT FAILED
// FAULT -look-again: USER ASSERT FAILED

#include "model.h"

static Order Own("own"), Id("id"), Count("count"), ReadCount("read-count"), ReadId("read-id"), ReadFence("read-fence"),
    ReadAgain("read-again");
static Step OneLess("one-less"), LookAgain("look-again");

struct Checkpoints : rl::test_suite<Checkpoints, 2> {
  static constexpr int Mask = 1, Passed = 4;
  Atomic<int> count, history[Mask + 1];

  void before() {
    count.rl::atomic<int>::store(0, rl::mo_relaxed, $);
    for (auto &place : history)
      place.rl::atomic<int>::store(-1, rl::mo_relaxed, $);
  }

  void checkpoint(int id) {
    int number = count.load(Own);
    history[number & Mask].store(id, Id);
    count.store(number + 1, Count);
  }

  void copyHistory() {
    int end = count.load(ReadCount), kept = Mask + !OneLess;
    int begin = end < kept ? 0 : end - kept, ids[Mask + 1];
    for (int i = begin; i != end; ++i)
      ids[i - begin] = history[i & Mask].load(ReadId);
    fence(ReadFence);
    if (LookAgain && count.load(ReadAgain) != end)
      return;
    for (int i = begin; i != end; ++i)
      RL_ASSERT(ids[i - begin] == i);
  }

  void thread(unsigned index) {
    if (index == 0)
      return copyHistory();
    for (int i = 0; i != Passed; ++i)
      checkpoint(i);
  }
};

int main(int argc, char **argv) { return search<Checkpoints>(argc, argv); }
