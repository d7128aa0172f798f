// A thread that cancels or escalates a task reads and marks a record of the task, with the lock of
// the status records held: the status word has a bit that tells so. The task removes the record
// without that lock if the bit is clear, and uses the memory for other things.
//
// The last use of the record by the thread that cancels is before it clears the bit. If the bit
// is set, the task takes the lock, too.
//
// Walk is the same with the actions of task-cancel-unlocked and task-escalation-unlocked, which run
// without the lock. A flag in the record tells that one runs. So the task waits for its end, in
// a list of those who wait. One record may have an action of either kind, on two threads. What
// is to be cancelled when the bit is set is cancelled once, by the walk or by the task.

// REQUIRES: relacy
// RUN: %check-model

// FAULT unlock=relaxed/relaxed: DATA RACE
// FAULT remove=relaxed/relaxed: DATA RACE
// FAULT -look-at-bit: DATA RACE
// FAULT -walk-bit: DATA RACE
// FAULT -mark-seen: USER ASSERT FAILED
// FAULT -mark-running: DATA RACE
// FAULT -clear-running: DEADLOCK
// FAULT -mark-awaited: DEADLOCK
// FAULT -list-before-look: DEADLOCK
// FAULT -wake: DEADLOCK
// FAULT -run-unseen: USER ASSERT FAILED

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

static Step WalkBit("walk-bit"), MarkSeen("mark-seen"), MarkRunning("mark-running"), ClearRunning("clear-running"),
    MarkAwaited("mark-awaited"), ListBeforeLook("list-before-look"), Wake("wake"), RunUnseen("run-unseen");

struct Walk : rl::test_suite<Walk, 3> {
  enum Bits { Locked = 1, HasRecord = 2, Cancelled = 4, Cancelling = 8, Escalated = 16, Escalating = 32 };
  enum Flags { Seen = 1, Running = 2, EscalationSeen = 4, EscalationRunning = 8, Awaited = 16, Reused = 32 };
  Atomic<int> status;
  // The record's flags, with the lock; what its action reads; how often it was cancelled.
  Plain<int> flags, action, cancellations;
  rl::mutex lock;
  // There is one that waits at most: the task.
  rl::mutex listLock, waiterLock;
  rl::condition_variable ended;
  Plain<bool> isListed, hasEnded;
  bool hadRecord;

  void before() {
    status.store(HasRecord, Look);
    flags.write(0);
    action.write(0);
    cancellations.write(0);
    isListed.write(false);
    hadRecord = false;
  }

  template <typename Fn, typename Update> void withLock(Fn fn, Update update) {
    lock.lock($);
    int old = status.load(Look);
    while (!status.swapWeak(old, old | Locked, Look)) {
    }
    old |= Locked;
    fn(old);
    while (!status.swapWeak(old, update(old) & ~Locked, Unlock)) {
    }
    lock.unlock($);
  }

  void walk(int bit, int inProgress, int seen, int running) {
    int old = status.load(Look);
    while (!status.swapWeak(old, old | bit | (old & HasRecord && WalkBit ? inProgress : 0), Look)) {
    }
    if (!(old & HasRecord))
      return;
    if (bit == Cancelled)
      hadRecord = true;

    bool isTaken = false, isAwaited = false;
    withLock(
        [&](int now) {
          if (!(now & HasRecord) || flags.read() & seen)
            return;
          isTaken = true;
          flags.write(flags.read() | (MarkSeen ? seen : 0) | (MarkRunning ? running : 0));
        },
        [&](int now) { return isTaken ? now : now & ~inProgress; });
    if (!isTaken)
      return;
    RL_ASSERT(action.read() == 0);
    if (bit == Cancelled)
      cancellations.write(cancellations.read() + 1);

    // The record is there as long as its flag says that the action runs.
    withLock(
        [&](int) {
          int old = flags.read();
          isAwaited = old & Awaited;
          flags.write(old & ~((ClearRunning ? running : 0) | Awaited));
        },
        [&](int now) { return now; });
    if (isAwaited && Wake) {
      listLock.lock($);
      if (isListed.read()) {
        waiterLock.lock($);
        hasEnded.write(true);
        ended.notify_all($);
        waiterLock.unlock($);
      }
      listLock.unlock($);
    }

    // Here the action of another record runs.
    withLock([&](int) {}, [&](int now) { return now & ~inProgress; });
  }

  bool tryToRemove(bool &isUnseen) {
    bool isInUse = false;
    int old;
    withLock(
        [&](int) {
          old = flags.read();
          isInUse = old & (Running | EscalationRunning);
          if (isInUse && MarkAwaited)
            flags.write(old | Awaited);
        },
        [&](int now) {
          isUnseen = !isInUse && now & Cancelling && !(old & Seen);
          return isInUse ? now : now & ~HasRecord;
        });
    return !isInUse;
  }

  bool remove() {
    int old = status.load(Look);
    while (!(old & Locked && LookAtBit) && !(old & (Cancelling | Escalating))) {
      if (status.swapWeak(old, old & ~HasRecord, Remove))
        return false;
    }
    bool isUnseen = false;
    while (!tryToRemove(isUnseen)) {
      listLock.lock($);
      isListed.write(true);
      hasEnded.write(false);
      listLock.unlock($);
      if (ListBeforeLook && tryToRemove(isUnseen))
        break;
      waiterLock.lock($);
      while (!hasEnded.read())
        ended.wait(waiterLock, $);
      waiterLock.unlock($);
      listLock.lock($);
      isListed.write(false);
      listLock.unlock($);
    }
    return isUnseen;
  }

  void resume() {
    if (remove() && RunUnseen)
      cancellations.write(cancellations.read() + 1);
    flags.write(Reused);
    action.write(1);
  }

  void thread(unsigned index) {
    if (index == 0)
      walk(Cancelled, Cancelling, Seen, Running);
    else if (index == 1)
      walk(Escalated, Escalating, EscalationSeen, EscalationRunning);
    else
      resume();
  }

  void after() {
    RL_ASSERT(status.load(Look) == (Cancelled | Escalated));
    RL_ASSERT(cancellations.read() == hadRecord);
  }
};

int main(int argc, char **argv) { return search<Hold, Walk>(argc, argv, /*bound*/ 2); }
