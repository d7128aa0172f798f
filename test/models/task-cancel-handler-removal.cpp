// A thread that cancels or escalates a task reads and marks a record of the task, with the lock of
// the status records held: the status word has a bit that tells so. The task removes the record
// without that lock if the bit is clear, and uses the memory for other things.
//
// The last use of the record by the thread that cancels is before it clears the bit. If the bit
// is set, the task takes the lock, too.

// REQUIRES: relacy
// RUN: %check-model

// FAULT unlock=relaxed/relaxed: DATA RACE
// FAULT remove=relaxed/relaxed: DATA RACE
// FAULT -look-at-bit: DATA RACE

#include "model.h"

static Order Look("look"), Unlock("unlock"), Remove("remove");
static Step LookAtBit("look-at-bit");

struct Hold : rl::test_suite<Hold, 2> {
  enum { Locked = 1, HasRecord = 2 };
  Atomic<int> status;
  Plain<int> memory;
  rl::mutex lock;

  void before() {
    status.store(HasRecord, Look);
    memory.write(0);
  }

  void cancel() {
    lock.lock($);
    int old = status.load(Look);
    while (!status.swapWeak(old, old | Locked, Look)) {
    }
    if (old & HasRecord)
      memory.write(1);
    old = status.load(Look);
    while (!status.swapWeak(old, old & ~Locked, Unlock)) {
    }
    lock.unlock($);
  }

  void resume() {
    int old = status.load(Look);
    while (true) {
      if (old & Locked && LookAtBit) {
        lock.lock($);
        old = status.load(Look);
        while (!status.swapWeak(old, old & ~HasRecord, Unlock)) {
        }
        lock.unlock($);
        break;
      }
      if (status.swapWeak(old, old & ~HasRecord, Remove))
        break;
    }
    memory.write(2);
  }

  void thread(unsigned index) { index ? resume() : cancel(); }

  void after() { RL_ASSERT(!(status.load(Look) & Locked)); }
};

int main(int argc, char **argv) { return search<Hold>(argc, argv); }
