// Starting a worker of the pool. Who finds none to wake counts a new one as started and
// searching, publishes it in the table, and makes its thread. From that count on, others rely
// on it: who adds a job and sees that somebody searches, wakes nobody. So if no thread can be
// made, the one who failed takes the count back, and then looks for the jobs of others, as a
// worker does that goes to sleep. If there is no worker at all, it hands what waits to Dispatch.
// There the queue's lock is enough: who adds after that has the lock after it, and sees the count.
//
// Thieves and the watcher read the table at any time.

// REQUIRES: relacy
// RUN: %check-model

// FAULT could-not=acq_rel: USER ASSERT FAILED
// FAULT look=acquire: USER ASSERT FAILED
// FAULT look-again=acquire: USER ASSERT FAILED
// FAULT -look-for-others: USER ASSERT FAILED
// FAULT -drain: USER ASSERT FAILED
// FAULT publish-worker=relaxed: DATA RACE
// FAULT find-worker=relaxed: DATA RACE

#include "model.h"

static Order Look("look"), LookAgain("look-again"), CouldNot("could-not"), PublishWorker("publish-worker"),
    FindWorker("find-worker");
static Step LookForOthers("look-for-others"), Drain("drain");

/// Two threads that are no workers add a job each, and no thread can be made. There may be a
/// worker, which takes one of the jobs and is then in it for ever.
struct NoThread : rl::test_suite<NoThread, 3> {
  static constexpr int Searching = 1, Started = 16, Armed = 256;
  rl::mutex lock;
  Plain<int> jobs;
  Atomic<int> hint, state;
  bool hasWorker;

  void before() {
    hasWorker = rl::rand(2);
    jobs.write(0);
    hint.rl::atomic<int>::store(0, rl::mo_relaxed, $);
    state.rl::atomic<int>::store(hasWorker ? Started : 0, rl::mo_relaxed, $);
  }

  void take(int number) {
    lock.lock($);
    int left = jobs.read() > number ? jobs.read() - number : 0;
    jobs.write(left);
    if (!left)
      hint.rl::atomic<int>::store(0, rl::mo_relaxed, $);
    lock.unlock($);
  }

  void add() {
    lock.lock($);
    jobs.write(jobs.read() + 1);
    if (jobs.read() == 1) {
      sequence(rl::mo_seq_cst, $);
      hint.rl::atomic<int>::store(1, rl::mo_seq_cst, $);
    }
    lock.unlock($);
  }

  void thread(unsigned index) {
    if (index == 2) {
      if (hasWorker && hint.rl::atomic<int>::load(rl::mo_relaxed, $))
        take(1);
      return;
    }
    add();
    int s = state.load(Look);
    while (!(s & Searching))
      if (state.rl::atomic<int>::compare_exchange_strong(s, s + Started + Searching, rl::mo_relaxed, $))
        return couldNotStart();
  }

  void couldNotStart() {
    if (state.subtract(Started + Searching, CouldNot) >= 2 * Started) {
      // Now the watcher looks.
      if (LookForOthers && hint.load(LookAgain))
        state.rl::atomic<int>::fetch_or(Armed, rl::mo_relaxed, $);
    } else if (Drain) {
      take(2);
    }
  }

  void after() { RL_ASSERT(!jobs.read() || state.newest() & Armed); }
};

/// A thread publishes a new worker, another one finds it. (It sees a null pointer if it comes early.)
struct Table : rl::test_suite<Table, 2> {
  Plain<int> worker;
  Atomic<int> entry;

  void before() { entry.rl::atomic<int>::store(0, rl::mo_relaxed, $); }
  void thread(unsigned index) {
    if (index == 0) {
      worker.write(1);
      entry.store(1, PublishWorker);
    } else if (entry.load(FindWorker)) {
      RL_ASSERT(worker.read() == 1);
    }
  }
};

int main(int argc, char **argv) { return search<NoThread, Table>(argc, argv, /*bound*/ 3); }
