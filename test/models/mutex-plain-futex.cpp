// The word of a Mutex: 0, unlocked; the owner's ID; that ID with the bit that tells the
// owner that threads wait, and with the one that tells it that a waiter starves; both with
// a third one, and no ID, unlocked for a starving waiter. Clients inline the changes from 0
// to ID and back.
//
// - A thread that is about to wait sets the first bit on the owner's ID, and asks the kernel
//   to put it to sleep if the word is still that.
// - The owner finds the bit when it unlocks. It stores 0 and wakes one thread.
// - A thread that has slept can't know whether others still do. It locks with the bit set.
//   One that only spins, and set the bit for that, need not.
// - A thread that was woken in vain starves. It sets the second bit, too, and sleeps apart.
// - The owner finds that, and wakes one of those. If there is one, it unlocks for them alone,
//   and wakes once more: the first may sleep again, as an heir.
// - It keeps these bits: those that starve are served one after the other.
// - One that a signal interrupts starves as well, and sleeps apart from those. Only one of
//   these is let in, before the others: else some could take turns for ever.
// - Nobody else locks that. In a forked child those that starved are missing: the owner
//   finds nobody to wake, and unlocks for all.
//
// So whenever threads sleep, the bit is set, or one has been woken and will set it.

// REQUIRES: relacy
// RUN: %check-model

// FAULT fast-lock=relaxed/relaxed: DATA RACE
// FAULT fast-unlock=relaxed/relaxed: DATA RACE
// FAULT slow-lock=relaxed/relaxed: DATA RACE
// FAULT slow-unlock=relaxed/relaxed: DATA RACE
// FAULT hand-over=relaxed: DATA RACE
// FAULT -set-bit: DEADLOCK
// FAULT -keep-bit: DEADLOCK
// FAULT -wake: DEADLOCK
// FAULT -look-before-sleep: DEADLOCK
// FAULT -wake-heir: DEADLOCK
// FAULT -see-nobody: DEADLOCK
// FAULT -only-starving: USER ASSERT FAILED
// FAULT -one-interrupted: USER ASSERT FAILED

#include "model.h"

static Order FastLock("fast-lock"), FastUnlock("fast-unlock"), SlowLock("slow-lock"), SetBit("set-bit"),
    Look("look"), SlowUnlock("slow-unlock"), HandOver("hand-over");
static Step SetTheBit("set-bit"), KeepBit("keep-bit"), Wake("wake"), LookBeforeSleep("look-before-sleep"),
    WakeHeir("wake-heir"), SeeNobody("see-nobody"), OnlyStarving("only-starving"),
    OneInterrupted("one-interrupted");

/// A futex whose sleepers are of a kind, which a wake-up can select.
struct Word : Atomic<unsigned> {
  enum Kind { Patient, Interrupted, Starving, Heir, Kinds };

  enum End { NotAsleep, IsWoken, HasHandledSignal };

  End wait(unsigned value, Kind kind, bool haveSignals, WHERE) {
    if (rl::atomic<unsigned>::fetch_add(0, rl::mo_relaxed, where) != value)
      return NotAsleep;
    auto reason = sleepers[kind].park_current(rl::ctx(), false, /*allow_spurious_wakeup*/ haveSignals, false, where);
    return reason == rl::unpark_reason_spurious ? HasHandledSignal : IsWoken;
  }
  /// Wakes one of the kinds from `kind` to `last`. Which one is left open: the kernel's order
  /// is no part of what makes the word right.
  bool wake(Kind kind, Kind last, WHERE) {
    rl::ctx().sched();
    unsigned count = last + 1 - kind, first = count > 1 ? rl::rand(count) : 0;
    for (unsigned i = 0; i != count; ++i)
      if (sleepers[kind + (first + i) % count].unpark_one(rl::ctx(), where))
        return true;
    return false;
  }

private:
  rl::waitset<3> sleepers[Kinds];
};

struct Mutex {
  static constexpr unsigned WaitersBit = 8, StarvingBit = 16, LetInBit = 32;
  Word word;
  Plain<int> inside;
  bool isHandedOver;
  /// How many that a signal has interrupted were let in since the word was 0.
  int interruptedLetIn;
  bool haveSignals = false;

  void start(unsigned state) {
    word.store(state, SlowUnlock);
    inside.write(0);
    isHandedOver = false;
    interruptedLetIn = 0;
  }

  void lock(unsigned self) {
    unsigned state = 0;
    bool starves = false;
    if (!word.swap(state, self, FastLock))
      starves = lockSlow(self);
    RL_ASSERT(starves || !isHandedOver);
    isHandedOver = false;
    inside.write(inside.read() + 1);
  }

  bool lockSlow(unsigned self) {
    // Spinning only reads the word again: once without the bit and once with it is enough.
    int tries = 2;
    const int triesWithBit = 1;
    unsigned desired = self;
    auto kind = Word::Patient;
    unsigned state = word.load(Look);
    while (true) {
      if (state == 0 || ((kind != Word::Patient || !OnlyStarving) && state == (WaitersBit | StarvingBit | LetInBit))) {
        if (word.swap(state, desired | (state & (StarvingBit | LetInBit)), SlowLock))
          return kind != Word::Patient;
        continue;
      }
      if (tries > triesWithBit || (tries != 0 && (state & WaitersBit))) {
        --tries;
        state = word.load(Look);
        continue;
      }
      unsigned waiting = state | (SetTheBit ? WaitersBit : 0) | (kind != Word::Patient ? StarvingBit : 0);
      if (waiting != state) {
        bool isSet = word.swap(state, waiting, SetBit);
        if (isSet)
          state = waiting;
        if (!isSet || tries != 0)
          continue;
      }
      // A thread is as impatient as can be.
      switch (word.wait(LookBeforeSleep ? waiting : word.newest(), kind, haveSignals)) {
      case Word::IsWoken:
        if (KeepBit)
          desired = self | WaitersBit;
        kind = kind == Word::Patient ? Word::Starving : Word::Heir;
        tries = 0;
        break;
      case Word::HasHandledSignal:
        desired = self | WaitersBit;
        // In the kernel, one may be of several kinds. Here an heir stays one.
        if (kind == Word::Patient)
          kind = Word::Interrupted;
        break;
      case Word::NotAsleep:
        break;
      }
      state = word.load(Look);
    }
  }

  void unlock(unsigned self) {
    unsigned state = self;
    if (word.swap(state, 0u, FastUnlock))
      return;
    state = word.load(Look);
    while (true) {
      if ((state & StarvingBit) && (wakeInterrupted(state) || word.wake(Word::Starving, Word::Heir) || !SeeNobody)) {
        isHandedOver = true;
        word.store(WaitersBit | StarvingBit | LetInBit, HandOver);
        if (WakeHeir)
          word.wake(Word::Heir, Word::Heir);
        return;
      }
      interruptedLetIn = 0;
      if (word.swap(state, 0u, SlowUnlock))
        break;
    }
    if (Wake)
      word.wake(Word::Patient, Word::Heir);
  }

  bool wakeInterrupted(unsigned state) {
    if (((state & LetInBit) && OneInterrupted) || !word.wake(Word::Interrupted, Word::Interrupted))
      return false;
    ++interruptedLetIn;
    RL_ASSERT(interruptedLetIn == 1);
    return true;
  }
};

/// One thread locks again at once, beside two others.
struct Contended : Mutex, rl::test_suite<Contended, 3> {
  void before() { start(0); }
  void thread(unsigned index) {
    for (int i = index == 0 ? 2 : 1; i != 0; --i) {
      lock(index + 1);
      unlock(index + 1);
    }
  }
  void after() { RL_ASSERT(inside.read() == 4); }
};

/// A forked child: the thread that forked has the lock, and those that waited do not exist.
struct Forked : Mutex, rl::test_suite<Forked, 2> {
  void before() { start(1 | WaitersBit | StarvingBit); }
  void thread(unsigned index) {
    if (index == 0)
      unlock(1);
    lock(index + 1);
    unlock(index + 1);
  }
  void after() { RL_ASSERT(inside.read() == 2); }
};

/// Signals interrupt those that wait.
struct Interrupted : Mutex, rl::test_suite<Interrupted, 2> {
  void before() {
    start(0);
    haveSignals = true;
  }
  void thread(unsigned index) {
    for (int i = 0; i != 2; ++i) {
      lock(index + 1);
      unlock(index + 1);
    }
  }
  void after() { RL_ASSERT(inside.read() == 4); }
};

// Threads that interrupt each other at most three times.
int main(int argc, char **argv) { return search<Contended, Forked, Interrupted>(argc, argv, /*bound*/ 3); }
