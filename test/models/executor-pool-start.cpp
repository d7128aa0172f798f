// Starting a worker of the pool. Who finds none to wake counts a new one as started and
// searching, publishes it in the table, and makes its thread. From that count on, others rely
// on it: who adds a job and sees that somebody searches, wakes nobody. So if no thread can be
// made, the one who failed takes the count back, and then looks for the jobs of others, as a
// worker does that goes to sleep. If there is no worker at all, it hands what waits to Dispatch.
// There the queue's lock is enough: who adds after that has the lock after it, and sees the count.
//
// Thieves and the watcher read the table at any time, up to `top`. An entry publishes its worker. Who
// must not miss a job of a new worker has changed the state after that worker has, which was made
// after `top` was stored.

// REQUIRES: relacy
// RUN: %check-model

// FAULT could-not=acq_rel: USER ASSERT FAILED
// FAULT look=acquire: USER ASSERT FAILED
// FAULT look-again=acquire: USER ASSERT FAILED
// FAULT -look-for-others: USER ASSERT FAILED
// FAULT -drain: USER ASSERT FAILED
// FAULT -top-first: USER ASSERT FAILED
// NOT NEEDED start=acq_rel/seq_cst: who fails to make the thread looks again
// NOT NEEDED start=seq_cst/acquire: who sees that somebody searches has looked in order before
// NOT NEEDED publish-top=relaxed: the entry publishes the worker, and the state what is below `top`
// NOT NEEDED find-top=relaxed: as above; who sees less of the table finds less
// NOT NEEDED look-top=acquire: as publish-top
// FAULT publish-worker=relaxed: DATA RACE
// FAULT find-worker=relaxed: DATA RACE

#include "model.h"

static Order Look("look"), LookAgain("look-again"), CouldNot("could-not"), PublishWorker("publish-worker"),
    FindWorker("find-worker"), Start("start"), PublishTop("publish-top"), FindTop("find-top"), LookTop("look-top");
static Step LookForOthers("look-for-others"), Drain("drain"), TopFirst("top-first");

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
      if (state.swap(s, s + Started + Searching, Start))
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

/// Two workers search. A thread has made the first one, which finds a job and adds another one. The second
/// one goes to sleep and then looks for jobs; or it is a thief, which looks at any time. A place behind that
/// of the first one may be in use before.
struct Table : rl::test_suite<Table, 2> {
  Plain<int> worker;
  Atomic<int> top, entry, hint, state;
  bool isThief, isCovered;

  void before() {
    for (auto *atomic : {&entry, &hint})
      atomic->rl::atomic<int>::store(0, rl::mo_relaxed, $);
    top.rl::atomic<int>::store(rl::rand(2), rl::mo_relaxed, $);
    state.rl::atomic<int>::store(2, rl::mo_relaxed, $);
    isThief = rl::rand(2);
    isCovered = isThief;
  }
  void stopSearching() {
    sequence(rl::mo_seq_cst, $);
    state.rl::atomic<int>::fetch_sub(1, rl::mo_seq_cst, $);
  }

  void thread(unsigned index) {
    if (index == 0) {
      worker.write(1);
      entry.store(1, PublishWorker);
      bool isHigher = !top.rl::atomic<int>::load(rl::mo_relaxed, $);
      if (isHigher && TopFirst)
        top.store(1, PublishTop);
      stopSearching();
      sequence(rl::mo_seq_cst, $);
      hint.rl::atomic<int>::store(1, rl::mo_seq_cst, $);
      if (!state.load(Look))
        isCovered = true;
      if (isHigher && !TopFirst)
        top.store(1, PublishTop);
      return;
    }
    if (!isThief)
      stopSearching();
    if (isThief ? top.load(FindTop) : top.load(LookTop))
      if (entry.load(FindWorker)) {
        RL_ASSERT(worker.read() == 1);
        if (hint.load(LookAgain))
          isCovered = true;
      }
  }

  void after() { RL_ASSERT(isCovered); }
};

int main(int argc, char **argv) { return search<NoThread, Table>(argc, argv, /*bound*/ 3); }
