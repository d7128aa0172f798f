// Sleepers with a tolerance join a later deadline, to which the timer is set. Who cancels the
// sleeper with that deadline has to set the timer for those that would have joined it. As in
// sleep-heap.cpp, one thread at a time sets the timer, without the lock; others leave it to that
// one, which looks again.
//
// There is a sleeper that may join another one, and the timer is set to the other one. A thread
// cancels that one. Meanwhile a second thread may add a sleeper, and the timer may fire.

// REQUIRES: relacy
// RUN: %check-model

// FAULT -look-after-cancel: USER ASSERT FAILED
// FAULT -find-after-cancel: USER ASSERT FAILED
// FAULT -find-after-add: USER ASSERT FAILED
// FAULT -find-after-firing: USER ASSERT FAILED
// FAULT -all-tolerances: USER ASSERT FAILED

#include "model.h"

static Step LookAfterCancel("look-after-cancel"), FindAfterCancel("find-after-cancel"), FindAfterAdd("find-after-add"),
    FindAfterFiring("find-after-firing"), AllTolerances("all-tolerances");

struct SleepTolerance : rl::test_suite<SleepTolerance, 3> {
  static constexpr int Never = 31;
  /// The sleepers by deadline, and until when each may sleep.
  static constexpr int Joining = 2, Added = 3, Exact = 4, Last = 5;
  int latest[6] = {0, 0, /*Joining*/ 0, Added, Exact, Last};

  rl::mutex lock;
  /// One bit for each deadline, and the fields of the code.
  Plain<unsigned> heap;
  Plain<int> wake, timerDeadline;
  Plain<bool> isSettingTimer;
  Plain<int> timer;
  /// What Dispatch knows: it fires once at that time.
  rl::atomic<int> armed;
  bool adds, fires;

  void before() {
    latest[Joining] = rl::rand(2) ? Exact : Last;
    adds = rl::rand(2);
    fires = rl::rand(2);
    heap.write(1u << Joining | 1u << Exact | 1u << Last);
    wake.write(Exact);
    timerDeadline.write(Exact);
    isSettingTimer.write(false);
    timer.write(1);
    armed.store(Exact, rl::mo_seq_cst, $);
  }

  int findWake() {
    unsigned left = heap.read();
    if (!left)
      return Never;
    int found = __builtin_ctz(left), last = latest[found];
    for (left &= left - 1; left && __builtin_ctz(left) <= last; left &= left - 1) {
      found = __builtin_ctz(left);
      if (AllTolerances)
        last = std::min(last, latest[found]);
    }
    return found;
  }

  bool shouldSetTimerLocked() {
    if (isSettingTimer.read() || wake.read() >= timerDeadline.read())
      return false;
    isSettingTimer.write(true);
    return true;
  }

  void setTimer() {
    while (true) {
      lock.lock($);
      int deadline = wake.read();
      if (deadline >= timerDeadline.read()) {
        isSettingTimer.write(false);
        lock.unlock($);
        return;
      }
      timerDeadline.write(deadline);
      lock.unlock($);
      timer.write(1);
      armed.store(deadline, rl::mo_seq_cst, $);
    }
  }

  void cancel(int deadline) {
    lock.lock($);
    bool shouldSet = false;
    if (heap.read() & 1u << deadline) {
      heap.write(heap.read() & ~(1u << deadline));
      if (FindAfterCancel && deadline == wake.read())
        wake.write(findWake());
      shouldSet = LookAfterCancel && shouldSetTimerLocked();
    }
    lock.unlock($);
    if (shouldSet)
      setTimer();
  }

  void add(int deadline) {
    lock.lock($);
    heap.write(heap.read() | 1u << deadline);
    if (FindAfterAdd && deadline < wake.read())
      wake.write(findWake());
    bool shouldSet = shouldSetTimerLocked();
    lock.unlock($);
    if (shouldSet)
      setTimer();
  }

  void fire(int now) {
    lock.lock($);
    heap.write(heap.read() & ~((2u << now) - 1));
    if (FindAfterFiring)
      wake.write(findWake());
    timerDeadline.write(Never);
    bool shouldSet = shouldSetTimerLocked();
    lock.unlock($);
    if (shouldSet)
      setTimer();
  }

  void thread(unsigned index) {
    if (index == 0)
      return cancel(Exact);
    if (index == 1) {
      if (adds)
        add(Added);
      return;
    }
    if (!fires)
      return;
    int now = armed.exchange(Never, rl::mo_seq_cst, $);
    if (now != Never)
      fire(now);
  }

  void after() {
    // The time to wake is a deadline that somebody has, and the timer is not later.
    unsigned left = heap.read();
    int time = armed.load(rl::mo_seq_cst, $);
    RL_ASSERT(left ? left & 1u << wake.read() : wake.read() == Never);
    RL_ASSERT(time <= findWake());
    for (; left; left &= left - 1)
      RL_ASSERT(time <= latest[__builtin_ctz(left)]);
  }
};

int main(int argc, char **argv) { return search<SleepTolerance>(argc, argv, /*bound*/ 3); }
