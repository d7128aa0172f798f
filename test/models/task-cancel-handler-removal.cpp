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
// is to be cancelled when the bit is set is cancelled once, by the walk: the task waits for that.
//
// Inline has two records, one in the other. The action of each resumes the task, and another thread does so, too:
// the first one runs it, on its own stack. So a record may be removed by the thread that performs its action, amid
// that. The walk begins anew then: it does not look at that record, and finds the one that is left. If that one is
// removed there, too, the task performs its action itself.

// REQUIRES: relacy
// RUN: %check-model

// FAULT unlock=relaxed/relaxed: DATA RACE
// FAULT remove=relaxed/relaxed: DATA RACE
// FAULT -look-at-bit: DATA RACE
// FAULT -walk-bit: DATA RACE
// FAULT -mark-seen: DEADLOCK
// FAULT -mark-running: DATA RACE
// FAULT -clear-running: DEADLOCK
// FAULT -mark-awaited: DEADLOCK
// FAULT -list-before-look: DEADLOCK
// FAULT -wake: DEADLOCK
// FAULT -await-unseen: USER ASSERT FAILED
// FAULT -run-unseen: USER ASSERT FAILED
// FAULT -forget: USER ASSERT FAILED
// FAULT -begin-anew: USER ASSERT FAILED
// FAULT -own-thread: DEADLOCK
// FAULT -own-walk: DEADLOCK

#include "model.h"

static Order Look("look"), Unlock("unlock"), Remove("remove");
static Step LookAtBit("look-at-bit"), WalkBit("walk-bit"), MarkSeen("mark-seen"), MarkRunning("mark-running"),
    ClearRunning("clear-running"), MarkAwaited("mark-awaited"), ListBeforeLook("list-before-look"), Wake("wake"),
    AwaitUnseen("await-unseen"), RunUnseen("run-unseen"), Forget("forget"), BeginAnew("begin-anew"),
    OwnThread("own-thread"), OwnWalk("own-walk");

/// The status word, the lock of the records, and the list of those who wait for the end of an action.
template <typename Test, unsigned Threads> struct Records : rl::test_suite<Test, Threads> {
  enum { Locked = 1 };
  Atomic<int> status;
  rl::mutex lock, listLock, waiterLock;
  rl::condition_variable ended;
  // There is one that waits at most: the task, for the record with this number; 0 is none.
  Plain<int> waitsFor;
  Plain<bool> hasEnded;

  void begin(int first) {
    status.store(first, Look);
    waitsFor.write(0);
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

  /// `bits` tell in the status that the record is there. Nobody walks if `walking` is clear.
  bool removeWithoutLock(int bits, int walking) {
    int old = status.load(Look);
    while (!(old & Locked && LookAtBit) && !(old & walking)) {
      if (status.swapWeak(old, old - bits, Remove))
        return true;
    }
    return false;
  }

  template <typename Try> void removeWithLock(int record, Try tryToRemove) {
    while (!tryToRemove()) {
      listLock.lock($);
      waitsFor.write(record);
      hasEnded.write(false);
      listLock.unlock($);
      if (ListBeforeLook && tryToRemove())
        break;
      waiterLock.lock($);
      while (!hasEnded.read())
        ended.wait(waiterLock, $);
      waiterLock.unlock($);
      listLock.lock($);
      waitsFor.write(0);
      listLock.unlock($);
    }
  }

  void endOfAction(int record) {
    listLock.lock($);
    if (waitsFor.read() == record) {
      waiterLock.lock($);
      hasEnded.write(true);
      ended.notify_all($);
      waiterLock.unlock($);
    }
    listLock.unlock($);
  }
};

struct Hold : Records<Hold, 2> {
  enum { HasRecord = 2 };
  Plain<int> memory;

  void before() {
    begin(HasRecord);
    memory.write(0);
  }

  void cancel() {
    withLock(
        [&](int now) {
          if (now & HasRecord)
            memory.write(1);
        },
        [&](int now) { return now; });
  }

  void resume() {
    if (!removeWithoutLock(HasRecord, 0))
      withLock([&](int) {}, [&](int now) { return now & ~HasRecord; });
    memory.write(2);
  }

  void thread(unsigned index) { index ? resume() : cancel(); }

  void after() { RL_ASSERT(!(status.load(Look) & Locked)); }
};

struct Walk : Records<Walk, 3> {
  enum Bits { HasRecord = 2, Cancelled = 4, Cancelling = 8, Escalated = 16, Escalating = 32 };
  enum Flags { Seen = 1, Running = 2, EscalationSeen = 4, EscalationRunning = 8, Awaited = 16, Reused = 32 };
  static constexpr int Number = 1;
  // The record's flags, with the lock; what its action reads; how often it was cancelled.
  Plain<int> flags, action, cancellations;
  bool hadRecord;

  void before() {
    begin(HasRecord);
    flags.write(0);
    action.write(0);
    cancellations.write(0);
    hadRecord = false;
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
    if (isAwaited && Wake)
      endOfAction(Number);

    // Here the action of another record runs.
    withLock([&](int) {}, [&](int now) { return now & ~inProgress; });
  }

  bool tryToRemove() {
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
          if (!isInUse && now & Cancelling && !(old & Seen) && AwaitUnseen) {
            flags.write(old | (MarkAwaited ? Awaited : 0));
            isInUse = true;
          }
          return isInUse ? now : now & ~HasRecord;
        });
    return !isInUse;
  }

  void resume() {
    if (!removeWithoutLock(HasRecord, Cancelling | Escalating))
      removeWithLock(Number, [&] { return tryToRemove(); });
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

struct Inline : Records<Inline, 2> {
  // The status has the number of the innermost record, and behind it, the next smaller one.
  enum Bits { Cancelled = 2, Cancelling = 4, Record = 8 };
  enum Flags { Seen = 1, Running = 2, Awaited = 4, Reused = 8 };
  static constexpr int Count = 2;
  // Flags with the lock; what the action reads; how often it was performed. Place 0 is none.
  Plain<int> flags[Count + 1], action[Count + 1], cancellations[Count + 1];
  rl::mutex gateLock;
  // With gateLock: which suspensions have been resumed, and at which the task waits.
  Plain<bool> isResumed[Count + 1];
  Plain<int> suspendedAt;
  int had;

  void before() {
    begin(Count * Record);
    for (int i = 0; i <= Count; ++i) {
      flags[i].write(0);
      action[i].write(0);
      cancellations[i].write(0);
      isResumed[i].write(false);
    }
    suspendedAt.write(Count);
    had = 0;
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
      if (isAwaited && Wake)
        endOfAction(last);
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
          if (isUnseen && !(amid && OwnWalk) && AwaitUnseen) {
            flags[record].write(old | (MarkAwaited ? Awaited : 0));
            isInUse = true;
          }
          return isInUse ? now : now - Record;
        });
    return !isInUse;
  }

  bool remove(int record, int *amid) {
    bool isUnseen = false;
    if (!removeWithoutLock(Record, Cancelling))
      removeWithLock(record, [&] { return tryToRemove(record, amid, isUnseen); });
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
