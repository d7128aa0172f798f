// A job that waits in the pool is covered: a worker searches, or the watcher is armed. Who adds
// a job stores the queue's hint, and then looks at the state. A worker that has searched in vain
// changes the state, and then looks at the hints; so does the watcher that disarms itself. All of
// these are sequentially consistent, so one of the two sees the other.
//
// A thread that is no worker may add a job, and must wake the worker that goes to sleep. A worker
// adds another one, and is blocked until the watcher has taken that. (Here they are one thread.)

// REQUIRES: relacy
// RUN: %check-model

// FAULT publish=release: DEADLOCK|USER ASSERT FAILED
// FAULT look=acquire: DEADLOCK|USER ASSERT FAILED
// FAULT look-again=acquire: DEADLOCK|USER ASSERT FAILED
// FAULT sleep=acq_rel: USER ASSERT FAILED|DEADLOCK
// FAULT disarm=acq_rel: DEADLOCK
// FAULT stop=acq_rel: DEADLOCK
// FAULT give=relaxed: DATA RACE
// FAULT take=relaxed: DATA RACE
// FAULT -recheck-injected: USER ASSERT FAILED|DEADLOCK
// FAULT -recheck-own: DEADLOCK
// FAULT -recheck-watcher: DEADLOCK
// FAULT -cover-rest: DEADLOCK
// NOT NEEDED begin=acq_rel: who begins to search looks again before it sleeps
// NOT NEEDED wake=acq_rel: who is woken looks again before it sleeps
// NOT NEEDED arm=acq_rel: who is armed looks again before it disarms itself

#include "model.h"

static Order Publish("publish"), Look("look"), LookAgain("look-again"), GoToSleep("sleep"), Wake("wake"), Arm("arm"),
    Disarm("disarm"), Stop("stop"), Give("give"), Take("take"), Begin("begin");
static Step RecheckInjected("recheck-injected"), RecheckOwn("recheck-own"), RecheckWatcher("recheck-watcher"),
    CoverRest("cover-rest");

struct ExecutorPool : rl::test_suite<ExecutorPool, 3> {
  static constexpr int Searching = 1, Sleeping = 16, Armed = 256;

  struct Queue {
    rl::mutex lock;
    Plain<int> jobs;
    Atomic<int> hint;

    void add() {
      lock.lock($);
      jobs.write(1);
      hint.store(1, Publish);
      lock.unlock($);
    }
    bool take() {
      lock.lock($);
      bool found = jobs.read();
      jobs.write(0);
      hint.rl::atomic<int>::store(0, rl::mo_relaxed, $);
      lock.unlock($);
      return found;
    }
    bool mayHave() { return hint.rl::atomic<int>::load(rl::mo_relaxed, $); }
  } injected, own;

  struct Token {
    Futex<int, 3> word;
    void give() {
      word.store(1, Give);
      word.wake();
    }
    void take() {
      while (!word.exchange(0, Take))
        word.wait(0);
    }
  } worker, watcher, taken;

  Atomic<int> state;
  rl::mutex idleLock;
  Plain<bool> isIdle, isOver;

  void before() {
    for (auto *queue : {&injected, &own}) {
      queue->jobs.write(0);
      queue->hint.rl::atomic<int>::store(0, rl::mo_relaxed, $);
    }
    for (auto *token : {&worker, &watcher, &taken})
      token->word.rl::atomic<int>::store(0, rl::mo_relaxed, $);
    state.rl::atomic<int>::store(Armed, rl::mo_relaxed, $);
    isIdle.write(false);
    isOver.write(false);
  }

  void wakeOne() {
    int s = state.load(Look);
    while (!(s & Searching) && s & Sleeping) {
      idleLock.lock($);
      bool found = isIdle.read();
      if (found) {
        isIdle.write(false);
        state.subtract(Sleeping - Searching, Wake);
      }
      idleLock.unlock($);
      if (found)
        return worker.give();
      s = state.load(Look);
    }
  }

  void arm() {
    sequence(Arm.success, $);
    if (!(state.fetch_or(Armed, Arm.success, $) & Armed))
      watcher.give();
  }

  void addJobs() {
    if (rl::rand(2)) {
      injected.add();
      if (!(state.load(Look) & Searching))
        wakeOne();
    }
    own.add();
    int s = state.load(Look);
    if (!(s & (Searching | Armed)))
      arm();
    taken.take();
    isOver.write(true);
    worker.give();
  }

  void work() {
    state.add(Searching, Begin);
    while (true) {
      if (injected.mayHave() && injected.take()) {
        int s = state.subtract(Searching, Stop);
        if (CoverRest && !(s & Armed) && own.hint.load(LookAgain))
          arm();
        return;
      }
      idleLock.lock($);
      isIdle.write(true);
      state.add(Sleeping - Searching, GoToSleep);
      idleLock.unlock($);
      if (RecheckInjected && injected.hint.load(LookAgain))
        wakeOne();
      else if (RecheckOwn && own.hint.load(LookAgain) && !(state.load(Look) & Armed))
        arm();
      worker.take();
      if (!(state.load(Look) & Searching) && isOver.read()) {
        RL_ASSERT(!injected.take());
        return;
      }
    }
  }

  void watch() {
    while (true) {
      if (own.hint.load(LookAgain)) {
        if (own.take())
          return taken.give();
        continue;
      }
      sequence(Disarm.success, $);
      state.fetch_and(~Armed, Disarm.success, $);
      if (RecheckWatcher && own.hint.load(LookAgain)) {
        sequence(Disarm.success, $);
        state.fetch_or(Armed, Disarm.success, $);
      } else {
        watcher.take();
      }
    }
  }

  void thread(unsigned index) { index == 0 ? addJobs() : index == 1 ? work() : watch(); }
};

int main(int argc, char **argv) { return search<ExecutorPool>(argc, argv, /*bound*/ 3); }
