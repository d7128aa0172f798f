// The status of an actor: what it does, and the newest of the jobs that came in.
//
// Any thread may put a job before the newest one, with a compare-and-swap that publishes the
// job's link and contents; who finds the actor idle schedules it. Only the thread that holds the
// lock of the actor claims jobs, with a compare-and-swap: when it takes the lock as a drainer,
// and when it looks for more. That is the last read of the status before the jobs are used, so
// it is what pairs with the publication, whatever the load before it has seen.

// REQUIRES: relacy
// RUN: %check-model

// FAULT claim=relaxed/relaxed: DATA RACE
// FAULT enqueue=relaxed/relaxed: DATA RACE
// FAULT lock=relaxed/relaxed: DATA RACE
// FAULT unlock=relaxed/relaxed: DATA RACE
// FAULT -look-before-unlock: USER ASSERT FAILED
// FAULT -clear: USER ASSERT FAILED|LIVELOCK|DATA RACE

// NOT NEEDED load=relaxed: the claim comes after it. (It is as in 6.2.3.)

#include "model.h"

static Order Look("look"), Enqueue("enqueue"), Lock("lock"), Load("load"), Claim("claim"), Unlock("unlock");
static Step LookBeforeUnlock("look-before-unlock"), Clear("clear");

struct Actor : rl::test_suite<Actor, 3> {
  enum { Idle, Scheduled, Running };
  static constexpr int Jobs = 4;
  struct Job {
    Plain<int> next, work;
  } jobs[Jobs + 1];
  /// 4 times the number of the newest job, or 0, and what the actor does.
  Atomic<int> status;
  /// What the actor protects, and its queue.
  Plain<int> done, queue;

  void before() {
    status.store(Idle, Look);
    done.write(0);
    queue.write(0);
  }

  /// Returns whether the actor has to be run now.
  bool enqueue(int job) {
    jobs[job].work.write(job);
    int old = status.load(Look);
    while (true) {
      jobs[job].next.write(old / 4);
      int state = old % 4 == Idle ? Scheduled : old % 4;
      if (status.swap(old, job * 4 + state, Enqueue))
        return old % 4 == Idle;
    }
  }

  void take(int first) {
    while (first) {
      int next = jobs[first].next.read();
      jobs[first].next.write(queue.read());
      queue.write(first);
      first = next;
    }
  }

  void processIncomingQueue() {
    int old = status.load(Load);
    while (true) {
      if (old / 4 == 0)
        return;
      if (status.swapWeak(old, Clear ? Running : old, Claim))
        break;
    }
    take(old / 4);
  }

  bool unlock() {
    int old = status.load(Look);
    while (true) {
      if (LookBeforeUnlock && (queue.read() || old / 4))
        return false;
      if (status.swap(old, Idle, Unlock))
        return true;
    }
  }

  void run() {
    int old = status.load(Look);
    while (!status.swap(old, Running, Lock))
      ;
    take(old / 4);
    do {
      processIncomingQueue();
      while (int job = queue.read()) {
        queue.write(jobs[job].next.read());
        RL_ASSERT(jobs[job].work.read() == job);
        done.write(done.read() + 1);
      }
    } while (!unlock());
  }

  void thread(unsigned index) {
    if (enqueue(index + 1))
      run();
    if (index == 0 && enqueue(Jobs))
      run();
  }

  void after() { RL_ASSERT(done.read() == Jobs); }
};

int main(int argc, char **argv) { return search<Actor>(argc, argv, /*bound*/ 2); }
