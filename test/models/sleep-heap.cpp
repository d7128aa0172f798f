// Sleeping tasks wait in a heap with a timer. The lock guards the heap, what the timer was
// last set to, and whether a thread is setting it; setting it is done without the lock, by one
// thread, and others leave it to that one. It looks again when it has set the timer, and sets
// it again if there is an earlier deadline by then. So the timer is never too late.
//
// A thread makes the queue if there is none yet, and publishes it; who comes second takes the
// queue that is there.

// REQUIRES: relacy
// RUN: %check-model

// FAULT publish=relaxed/acquire: DATA RACE|UNLOCKING MUTEX W/O OWNERSHIP|USAGE OF NON INITIALIZED MUTEX
// FAULT publish=release/relaxed: DATA RACE
// FAULT find=relaxed: DATA RACE
// FAULT -keep-first: USER ASSERT FAILED
// FAULT -look-again: USER ASSERT FAILED|DATA RACE
// FAULT -one-setter: DATA RACE
// FAULT -forget-fired: USER ASSERT FAILED
// FAULT -set-after-firing: USER ASSERT FAILED

#include "model.h"

static Order Find("find"), Publish("publish");
static Step KeepFirst("keep-first"), LookAgain("look-again"), OneSetter("one-setter"), ForgetFired("forget-fired"),
    SetAfterFiring("set-after-firing");

struct SleepHeap : rl::test_suite<SleepHeap, 3> {
  static constexpr int Never = 31;
  struct Queue {
    rl::mutex lock;
    Plain<int> isMade;
    /// One bit for each deadline, and the fields of the code.
    Plain<unsigned> heap;
    Plain<int> timerDeadline;
    Plain<bool> isSettingTimer;
    Plain<int> timer;
  } queues[2];
  Atomic<int> entry;
  /// What dispatch knows: it fires once at that time.
  rl::atomic<int> armed;

  void before() {
    entry.rl::atomic<int>::store(0, rl::mo_relaxed, $);
    armed.store(Never, rl::mo_seq_cst, $);
    for (auto &queue : queues)
      queue.isMade.write(0);
  }

  Queue *get(int index) {
    int found = entry.load(Find);
    if (!found) {
      auto &queue = queues[index];
      queue.isMade.write(1);
      queue.heap.write(0);
      queue.timerDeadline.write(Never);
      queue.isSettingTimer.write(false);
      queue.timer.write(0);
      if (entry.swap(found, index + 1, Publish) || !KeepFirst)
        found = index + 1;
    }
    RL_ASSERT(queues[found - 1].isMade.read() == 1);
    return &queues[found - 1];
  }

  static int next(Queue *queue) {
    unsigned heap = queue->heap.read();
    return heap ? __builtin_ctz(heap) : Never;
  }

  bool shouldSetTimerLocked(Queue *queue) {
    if ((OneSetter && queue->isSettingTimer.read()) || next(queue) >= queue->timerDeadline.read())
      return false;
    queue->isSettingTimer.write(true);
    return true;
  }

  void setTimer(Queue *queue) {
    while (true) {
      queue->lock.lock($);
      int deadline = next(queue);
      if (deadline >= queue->timerDeadline.read()) {
        queue->isSettingTimer.write(false);
        queue->lock.unlock($);
        return;
      }
      queue->timerDeadline.write(deadline);
      if (!LookAgain)
        queue->isSettingTimer.write(false);
      queue->lock.unlock($);
      queue->timer.write(1);
      armed.store(deadline, rl::mo_seq_cst, $);
      if (!LookAgain)
        return;
    }
  }

  void wakeDue(Queue *queue, int now) {
    queue->lock.lock($);
    queue->heap.write(queue->heap.read() & ~((2u << now) - 1));
    if (ForgetFired)
      queue->timerDeadline.write(Never);
    bool shouldSet = shouldSetTimerLocked(queue);
    queue->lock.unlock($);
    if (shouldSet && SetAfterFiring)
      setTimer(queue);
  }

  void add(Queue *queue, int deadline) {
    queue->lock.lock($);
    queue->heap.write(queue->heap.read() | 1u << deadline);
    bool shouldSet = shouldSetTimerLocked(queue);
    queue->lock.unlock($);
    if (shouldSet)
      setTimer(queue);
  }

  void thread(unsigned index) {
    if (index != 2)
      return add(get(index), index ? 2 : 4);
    int now = armed.exchange(Never, rl::mo_seq_cst, $);
    if (now != Never)
      wakeDue(&queues[entry.newest() - 1], now);
  }

  void after() {
    // All sleep in one queue, and no deadline is before the timer.
    for (int i = 0; i != 2; ++i)
      RL_ASSERT(entry.newest() == i + 1 || !queues[i].isMade.read() || !queues[i].heap.read());
    auto *queue = &queues[entry.newest() - 1];
    RL_ASSERT(armed.load(rl::mo_seq_cst, $) <= next(queue));
  }
};

int main(int argc, char **argv) { return search<SleepHeap>(argc, argv, /*bound*/ 3); }
