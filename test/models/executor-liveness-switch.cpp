// Jobs are not marked until a monitor has set what they need, and turns marks on. The first job
// after that lets the monitor begin.
//
// A thread finds its record in an entry, which other threads may find, too. Only the thread that
// is in the entry writes it, and leaves it when it exits. The others ask their thread-local storage.

// REQUIRES: relacy
// RUN: %check-model

// FAULT enter=relaxed: DATA RACE
// FAULT turn-on=relaxed: DATA RACE
// FAULT -one-begins: DATA RACE|USER ASSERT FAILED
// FAULT -record-first: DATA RACE
// FAULT -clear-entry: USER ASSERT FAILED

// NOT SEEN leave-entry=relaxed: relacy lets stores to one variable take effect in the order in
// which it runs them: see executor-liveness-entry.litmus.
// NOT SEEN enter-entry=relaxed/relaxed: the same.

#include "model.h"

static Order FindEntry("find-entry"), EnterEntry("enter-entry"), LeaveEntry("leave-entry"), IsOn("is-on"),
    Enter("enter"), TurnOn("turn-on"), Begin("begin");
static Step ClearEntry("clear-entry"), OneBegins("one-begins"), RecordFirst("record-first");

/// Both threads have the same entry. Who finds the other one in it asks its thread-local storage.
struct Entry : rl::test_suite<Entry, 2> {
  Atomic<int> inEntry, own;

  void before() {
    inEntry.rl::atomic<int>::store(-1, rl::mo_relaxed, $);
    own.rl::atomic<int>::store(-1, rl::mo_relaxed, $);
  }

  void thread(unsigned thread) {
    int index = thread, none = -1;
    if (inEntry.swap(none, index, EnterEntry))
      own.store(index, FindEntry);
    RL_ASSERT(inEntry.load(FindEntry) != index || own.load(FindEntry) == index);
    if (ClearEntry && inEntry.load(FindEntry) == index)
      inEntry.store(-1, LeaveEntry);
  }
  void after() { RL_ASSERT(inEntry.newest() == -1); }
};

/// Thread 0 is who starts the monitor, the others make tasks.
struct Switch : rl::test_suite<Switch, 3> {
  static constexpr int Off = 0, On = 1, Pending = 2;
  Atomic<int> mode;
  Plain<int> functions;
  int begins = 0;
  bool hasTask = false;

  void before() {
    mode.rl::atomic<int>::store(Off, rl::mo_relaxed, $);
    functions.write(0);
  }

  void enterThread() {
    if (mode.load(Enter) == Off)
      return;
    int pending = Pending;
    if (OneBegins ? mode.swap(pending, On, Begin) : mode.load(Enter) == Pending) {
      mode.store(On, Begin);
      ++begins;
    }
  }

  void thread(unsigned index) {
    if (index == 0) {
      functions.write(1);
      mode.store(Pending, TurnOn);
      return;
    }
    if (mode.load(IsOn) == Off)
      return;
    if (RecordFirst)
      enterThread();
    RL_ASSERT(functions.read() == 1);
    if (!RecordFirst)
      enterThread();
    hasTask = true;
  }

  void after() { RL_ASSERT(begins == hasTask); }
};

int main(int argc, char **argv) { return search<Entry, Switch>(argc, argv); }
