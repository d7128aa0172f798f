// The last reference to an actor goes away while a thread is still about to leave it. The
// releasing thread runs the deinit, which writes to the object. If the actor is idle then, it
// frees the memory; else it marks the actor, and the thread that leaves it frees the memory
// when it finds the mark. Whoever frees comes after everything that the other one did.
//
// The last use of the actor's memory by the thread that leaves it is the unlock.

// REQUIRES: relacy
// RUN: %check-model

// FAULT mark=relaxed/acquire: DATA RACE
// FAULT mark=release/relaxed: DATA RACE
// FAULT find-idle=relaxed: DATA RACE
// FAULT find-mark=relaxed: DATA RACE
// FAULT unlock=relaxed/relaxed: DATA RACE
// FAULT -mark: DATA RACE|USER ASSERT FAILED
// FAULT -look-for-mark: USER ASSERT FAILED

#include "model.h"

static Order Look("look"), Unlock("unlock"), FindMark("find-mark"), FindIdle("find-idle"), Mark("mark");
static Step UseMark("mark"), LookForMark("look-for-mark");

struct Zombie : rl::test_suite<Zombie, 2> {
  enum { Idle, Running, Marked };
  Atomic<int> status;
  /// What the thread in the actor writes, and what the deinit writes.
  Plain<int> actor, object;
  int freed = 0;

  void before() {
    status.store(Running, Look);
    actor.write(0);
    object.write(0);
  }

  void free() {
    actor.write(-1);
    object.write(-1);
    ++freed;
  }

  void leave() {
    actor.write(1);
    int old = status.load(Look);
    while (true) {
      if (old == Marked && LookForMark) {
        (void)status.load(FindMark);
        return free();
      }
      if (status.swapWeak(old, Idle, Unlock))
        return;
    }
  }

  void deallocate() {
    object.write(1);
    int old = status.load(FindIdle);
    while (old == Running && UseMark)
      if (status.swapWeak(old, Marked, Mark))
        return;
    free();
  }

  void thread(unsigned index) { index ? deallocate() : leave(); }

  void after() { RL_ASSERT(freed == 1); }
};

int main(int argc, char **argv) { return search<Zombie>(argc, argv); }
