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
//
// Inline has two records, one in the other. The action of each resumes the task, and another thread does so, too:
// the first one runs it, on its own stack. So a record may be removed by the thread that performs its action, amid
// that. The walk begins anew then: it does not look at that record, and finds the one that is left.

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
// FAULT -forget: DATA RACE
// FAULT -begin-anew: USER ASSERT FAILED
// FAULT -own-thread: DEADLOCK

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

static Step Forget("forget"), BeginAnew("begin-anew"), OwnThread("own-thread");

struct Inline : rl::test_suite<Inline, 2> {
  // The status has the number of the innermost record, and behind it, the next smaller one.
  enum Bits { Locked = 1, Cancelled = 2, Cancelling = 4, Record = 8 };
  enum Flags { Seen = 1, Running = 2, Awaited = 4, Reused = 8 };
  static constexpr int Count = 2;
  Atomic<int> status;
  // Flags with the lock; what the action reads; how often it was performed. Place 0 is none.
  Plain<int> flags[Count + 1], action[Count + 1], cancellations[Count + 1];
  rl::mutex lock, listLock, waiterLock, gateLock;
  rl::condition_variable ended;
  Plain<int> waitsFor;
  Plain<bool> hasEnded;
  // With gateLock: which suspensions have been resumed, and at which the task waits.
  Plain<bool> isResumed[Count + 1];
  Plain<int> suspendedAt;
  int had;

  void before() {
    status.store(Count * Record, Look);
    for (int i = 0; i <= Count; ++i) {
      flags[i].write(0);
      action[i].write(0);
      cancellations[i].write(0);
      isResumed[i].write(false);
    }
    suspendedAt.write(Count);
    waitsFor.write(0);
    had = 0;
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

  void perform(int record) {
    RL_ASSERT(action[record].read() == 0);
    cancellations[record].write(cancellations[record].read() + 1);
  }

  void walk() {
    int old = status.load(Look);
    while (!status.swapWeak(old, old | Cancelled | (old >= Record && WalkBit ? Cancelling : 0), Look)) {
    }
    had = old / Record;
    if (!had)
      return;

    // What this thread is amid; 0 when it has removed that itself.
    int amid = 0;
    bool isFirst = true;
    while (true) {
      int last = 0, next = 0;
      bool isAwaited = false;
      withLock(
          [&](int now) {
            int current = now / Record;
            if ((last = amid)) {
              int old = flags[last].read();
              current = last - 1;
              isAwaited = old & Awaited;
              flags[last].write(old & ~((ClearRunning ? Running : 0) | Awaited));
            } else if (!isFirst && !BeginAnew) {
              current = 0;
            }
            while (current && flags[current].read() & Seen)
              --current;
            if ((next = current))
              flags[next].write(flags[next].read() | (MarkSeen ? Seen : 0) | (MarkRunning ? Running : 0));
            amid = next;
          },
          [&](int now) { return next ? now : now & ~Cancelling; });
      isFirst = false;
      if (isAwaited && Wake) {
        listLock.lock($);
        if (waitsFor.read() == last) {
          waiterLock.lock($);
          hasEnded.write(true);
          ended.notify_all($);
          waiterLock.unlock($);
        }
        listLock.unlock($);
      }
      if (!next)
        return;
      perform(next);
      resume(next, &amid);
    }
  }

  bool tryToRemove(int record, int *amid, bool &isUnseen) {
    bool isInUse = false;
    int old;
    withLock(
        [&](int) {
          old = flags[record].read();
          bool isOwn = amid && *amid == record;
          isInUse = old & Running && !(isOwn && OwnThread);
          if (isInUse && MarkAwaited)
            flags[record].write(old | Awaited);
          if (isOwn && Forget)
            *amid = 0;
        },
        [&](int now) {
          isUnseen = !isInUse && now & Cancelling && !(old & Seen);
          return isInUse ? now : now - Record;
        });
    return !isInUse;
  }

  bool remove(int record, int *amid) {
    int old = status.load(Look);
    while (!(old & Locked && LookAtBit) && !(old & Cancelling)) {
      if (status.swapWeak(old, old - Record, Remove))
        return false;
    }
    bool isUnseen = false;
    while (!tryToRemove(record, amid, isUnseen)) {
      listLock.lock($);
      waitsFor.write(record);
      hasEnded.write(false);
      listLock.unlock($);
      if (ListBeforeLook && tryToRemove(record, amid, isUnseen))
        break;
      waiterLock.lock($);
      while (!hasEnded.read())
        ended.wait(waiterLock, $);
      waiterLock.unlock($);
      listLock.lock($);
      waitsFor.write(0);
      listLock.unlock($);
    }
    return isUnseen;
  }

  /// The task waits for this in the scope of the record. Who resumes it first runs it, to its next suspension.
  void resume(int record, int *amid) {
    gateLock.lock($);
    bool isFirst = !isResumed[record].read(), isSuspended = suspendedAt.read() == record;
    isResumed[record].write(true);
    gateLock.unlock($);
    if (!isFirst || !isSuspended)
      return;
    while (record) {
      if (remove(record, amid) && RunUnseen)
        perform(record);
      flags[record].write(Reused);
      action[record].write(1);
      --record;
      gateLock.lock($);
      bool goesOn = isResumed[record].read();
      suspendedAt.write(record);
      gateLock.unlock($);
      if (!goesOn)
        return;
    }
  }

  void thread(unsigned index) {
    if (index == 0) {
      walk();
    } else {
      resume(2, nullptr);
      resume(1, nullptr);
    }
  }

  void after() {
    RL_ASSERT(status.load(Look) == Cancelled);
    for (int i = 1; i <= Count; ++i)
      RL_ASSERT(cancellations[i].read() == (i <= had));
  }
};

int main(int argc, char **argv) { return search<Hold, Walk, Inline>(argc, argv, /*bound*/ 2); }
