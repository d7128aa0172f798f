// The word of a Mutex: 0, unlocked; the owner's ID; that ID with the bit that tells the
// owner that threads wait. Clients inline the changes from 0 to ID and back.
//
// - A thread that is about to wait sets the bit on the owner's ID, and asks the kernel to
//   put it to sleep if the word is still that.
// - The owner finds the bit when it unlocks. It stores 0 and wakes one thread.
// - A thread that has slept can't know whether others still do. It locks with the bit set.
//
// So whenever threads sleep, the bit is set, or one has been woken and will set it.

// REQUIRES: relacy
// RUN: %check-model

// FAULT fast-lock=relaxed/relaxed: DATA RACE
// FAULT fast-unlock=relaxed/relaxed: DATA RACE
// FAULT slow-lock=relaxed/relaxed: DATA RACE
// FAULT slow-unlock=relaxed: DATA RACE
// FAULT -set-bit: DEADLOCK
// FAULT -keep-bit: DEADLOCK
// FAULT -wake: DEADLOCK
// FAULT -look-before-sleep: DEADLOCK

#include "model.h"

static Order FastLock("fast-lock"), FastUnlock("fast-unlock"), SlowLock("slow-lock"), SetBit("set-bit"),
    Look("look"), SlowUnlock("slow-unlock");
static Step SetTheBit("set-bit"), KeepBit("keep-bit"), Wake("wake"), LookBeforeSleep("look-before-sleep");

struct Mutex : rl::test_suite<Mutex, 3> {
  static constexpr unsigned Waiters = 8;
  Futex<unsigned, 3> word;
  Plain<int> inside;

  void before() {
    word.store(0, SlowUnlock);
    inside.write(0);
  }

  void lock(unsigned self) {
    unsigned state = 0;
    if (!word.swap(state, self, FastLock))
      lockSlow(self);
  }

  void lockSlow(unsigned self) {
    // Spinning only reads the word again: once is enough here.
    int tries = 1;
    unsigned desired = self;
    unsigned state = word.load(Look);
    while (true) {
      if (state == 0) {
        if (word.swap(state, desired, SlowLock))
          return;
      }
      if (!(state & Waiters) && tries != 0) {
        --tries;
        state = word.load(Look);
        continue;
      }
      if (!(state & Waiters) && SetTheBit) {
        if (!word.swap(state, state | Waiters, SetBit))
          continue;
        state |= Waiters;
      }
      if (word.wait(LookBeforeSleep ? state : word.newest())) {
        if (KeepBit)
          desired = self | Waiters;
      }
      state = word.load(Look);
    }
  }

  void unlock(unsigned self) {
    if (word.swap(self, 0u, FastUnlock))
      return;
    word.store(0, SlowUnlock);
    if (Wake)
      word.wake();
  }

  void thread(unsigned index) {
    lock(index + 1);
    inside.write(inside.read() + 1);
    unlock(index + 1);
  }

  void after() { RL_ASSERT(inside.read() == 3); }
};

// Three threads that interrupt each other at most five times.
int main(int argc, char **argv) { return search<Mutex>(argc, argv, /*bound*/ 5); }
