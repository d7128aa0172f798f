// A task that sleeps is woken: somebody keeps its time. Who puts it to sleep stores the queue's
// deadline, looks at the timer, sets it, and then looks at the time that is kept and at the state.
// A worker that goes to sleep changes the state, and one that is woken for a job changes the time
// that is kept; both look at the timer afterwards. So does the watcher that disarms itself. Who
// takes the timer looks at the deadlines afterwards.
//
// A thread that is no worker puts the task to sleep, while the timer is set for another one or is
// not. The worker searches in vain, or kept the time and is woken for a job that does not end.

// REQUIRES: relacy
// RUN: %check-model

// FAULT look-timer=acquire: DEADLOCK
// FAULT set-deadline=release: DEADLOCK
// FAULT look-set=acquire: DEADLOCK
// FAULT take-timer=acq_rel: DEADLOCK
// FAULT look-deadline=acquire: DEADLOCK
// FAULT -recheck-watcher: DEADLOCK
// FAULT -cover: DEADLOCK
// NOT NEEDED set-timer=acq_rel/seq_cst: who has set it looks at it again, in order
// NOT NEEDED set-timer=seq_cst/acquire: here nobody else sets it
// NOT NEEDED look-kept=acquire: relacy has it after the looks at the timer, C++ does not
// NOT NEEDED keep=release: relacy has it before the next change of the state, C++ does not

#include "model.h"

static Order SetTimer("set-timer"), LookTimer("look-timer"), LookKept("look-kept"), Keep("keep"),
    SetDeadline("set-deadline"), LookSet("look-set"), TakeTimer("take-timer"), LookDeadline("look-deadline");
static Step RecheckWatcher("recheck-watcher"), Cover("cover");

struct ExecutorTimers : rl::test_suite<ExecutorTimers, 3> {
  static constexpr int Searching = 1, Sleeping = 16, Armed = 256;

  // What belongs to executor-pool is as its model has it.
  static int load(const Atomic<int> &atomic) {
    sequence(rl::mo_seq_cst, $);
    return atomic.rl::atomic<int>::load(rl::mo_seq_cst, $);
  }

  struct Token {
    Futex<int, 3> word;
    void give() {
      sequence(rl::mo_release, $);
      word.rl::atomic<int>::store(1, rl::mo_release, $);
      word.wake();
    }
    void take() {
      while (true) {
        sequence(rl::mo_acquire, $);
        if (word.rl::atomic<int>::exchange(0, rl::mo_acquire, $))
          return;
        word.wait(0);
      }
    }
  } worker, watcher;

  Atomic<int> timer, kept, deadline, state;
  rl::mutex idleLock;
  Plain<bool> isIdle, isOver;
  bool isKeeper;

  void before() {
    isKeeper = rl::rand(2);
    timer.rl::atomic<int>::store(rl::rand(2), rl::mo_relaxed, $);
    kept.rl::atomic<int>::store(isKeeper, rl::mo_relaxed, $);
    deadline.rl::atomic<int>::store(0, rl::mo_relaxed, $);
    state.rl::atomic<int>::store(isKeeper ? Sleeping : Searching, rl::mo_relaxed, $);
    for (auto *token : {&worker, &watcher})
      token->word.rl::atomic<int>::store(0, rl::mo_relaxed, $);
    isIdle.write(isKeeper);
    isOver.write(false);
  }

  void change(int difference) {
    sequence(rl::mo_seq_cst, $);
    state.rl::atomic<int>::fetch_add(difference, rl::mo_seq_cst, $);
  }

  bool isTimerKept() { return !timer.load(LookTimer) || kept.load(LookKept); }

  void cover() {
    if (isTimerKept())
      return;
    int s = load(state);
    while (!(s & Searching)) {
      if (!(s & Sleeping)) {
        if (!(s & Armed)) {
          sequence(rl::mo_seq_cst, $);
          if (!(state.rl::atomic<int>::fetch_or(Armed, rl::mo_seq_cst, $) & Armed))
            watcher.give();
        }
        return;
      }
      if (wake())
        return worker.give();
      s = load(state);
    }
  }

  bool wake() {
    idleLock.lock($);
    bool found = isIdle.read();
    if (found) {
      isIdle.write(false);
      change(Searching - Sleeping);
      if (kept.rl::atomic<int>::load(rl::mo_relaxed, $))
        kept.store(0, Keep);
    }
    idleLock.unlock($);
    return found;
  }

  /// Returns true if the task was woken.
  bool wakeSleepers() {
    return timer.exchange(0, TakeTimer) && deadline.load(LookDeadline);
  }

  void putToSleep() {
    deadline.store(1, SetDeadline);
    if (timer.load(LookSet))
      return;
    int none = 0;
    timer.swap(none, 1, SetTimer);
    cover();
  }

  void work() {
    if (isKeeper) {
      // Somebody has a job for it.
      if (!wake())
        return work(0);
      change(-Searching);
      if (Cover)
        cover();
      return;
    }
    work(0);
  }

  void work(int) {
    while (true) {
      if (timer.rl::atomic<int>::load(rl::mo_relaxed, $) && wakeSleepers())
        break;
      idleLock.lock($);
      isIdle.write(true);
      change(Sleeping - Searching);
      bool isTimed = timer.load(LookTimer) && !kept.rl::atomic<int>::load(rl::mo_relaxed, $);
      if (isTimed)
        kept.store(1, Keep);
      idleLock.unlock($);
      // The time comes, unless it is woken before.
      if (!isTimed || !wake())
        worker.take();
    }
    isOver.write(true);
    watcher.give();
  }

  void watch() {
    while (true) {
      watcher.take();
      if (isOver.read())
        return;
      while (true) {
        if (wakeSleepers())
          return;
        sequence(rl::mo_seq_cst, $);
        state.rl::atomic<int>::fetch_and(~Armed, rl::mo_seq_cst, $);
        if (!RecheckWatcher || isTimerKept())
          break;
        sequence(rl::mo_seq_cst, $);
        state.rl::atomic<int>::fetch_or(Armed, rl::mo_seq_cst, $);
      }
    }
  }

  void thread(unsigned index) { index == 0 ? putToSleep() : index == 1 ? work() : watch(); }
};

int main(int argc, char **argv) { return search<ExecutorTimers>(argc, argv, /*bound*/ 3); }
