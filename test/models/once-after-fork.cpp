// The lock of swift::once: 0, not locked; 1, locked; 2, locked, and threads may be
// waiting. Any thread may exchange the word; what is inside is the holder's alone.
//
// Who gets the lock after waiting does not know whether others wait, so it keeps
// the 2, and wakes one of them when it unlocks.

// REQUIRES: relacy
// RUN: %check-model

// FAULT lock=relaxed/relaxed: DATA RACE
// FAULT wait=relaxed: DATA RACE
// FAULT trylock=relaxed/relaxed: DATA RACE
// FAULT unlock=relaxed: DATA RACE
// FAULT -keep-mark: DEADLOCK
// FAULT -wake: DEADLOCK

#include "model.h"

static Order Lock("lock"), Wait("wait"), TryLock("trylock"), Unlock("unlock");
static Step KeepMark("keep-mark"), Wake("wake");

struct Once : rl::test_suite<Once, 3> {
  Futex<int, 3> word;
  Plain<int> inside;

  void before() {
    word.store(0, Unlock);
    inside.write(0);
  }

  void lock() {
    int zero = 0;
    if (!word.swap(zero, 1, Lock)) {
      while (true) {
        zero = 0;
        if (!KeepMark && word.swap(zero, 1, Lock))
          break;
        if (word.exchange(2, Wait) == 0)
          break;
        word.wait(2);
      }
    }
  }

  bool trylock() {
    int zero = 0;
    return word.swap(zero, 1, TryLock);
  }

  void unlock() {
    if (word.exchange(0, Unlock) != 1 && Wake)
      word.wake();
  }

  void thread(unsigned index) {
    if (index == 2) {
      if (!trylock())
        return;
    } else
      lock();
    inside.write(inside.read() + 1);
    unlock();
  }
};

int main(int argc, char **argv) { return search<Once>(argc, argv); }
