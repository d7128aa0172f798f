// Deinits that are sent to one actor share a job while it is open. The open job of an actor is
// one word (of two words in the code): the job, how many deinits it has, and whether a sender
// has borrowed it. A sender borrows the job, writes its deinit behind the others, and gives the
// job back with one more; or it writes down the count and opens another job. The runner closes
// the job, and runs what is counted. If a sender had borrowed it, then that one finds it closed;
// whoever of the two comes second destroys the job.
//
// Here one sender sends two deinits and another one sends one; a job has two at most.

// REQUIRES: relacy
// RUN: %check-model

// FAULT borrow=relaxed/relaxed: DATA RACE
// FAULT give-back=relaxed/relaxed: DATA RACE
// FAULT replace=relaxed/relaxed: DATA RACE
// FAULT load-open=relaxed: DATA RACE
// FAULT close=acquire/relaxed: DATA RACE
// FAULT let-go=acquire: DATA RACE
// FAULT let-go=release: DATA RACE
// FAULT -mark-borrowed: DATA RACE|USER ASSERT FAILED
// FAULT -write-count: USER ASSERT FAILED
// FAULT -let-go-closed: USER ASSERT FAILED
// FAULT -let-go-replaced: USER ASSERT FAILED

// NOT NEEDED close=relaxed/acquire: it reads what the load before it has acquired, as no word comes twice.

#include "model.h"

static Order Peek("peek"), Borrow("borrow"), GiveBack("give-back"), Replace("replace"), LoadOpen("load-open"),
    Close("close"), LetGo("let-go");
static Step MarkBorrowed("mark-borrowed"), WriteCount("write-count"), LetGoClosed("let-go-closed"),
    LetGoReplaced("let-go-replaced");

struct SharedJobs : rl::test_suite<SharedJobs, 3> {
  static constexpr int MaxCount = 2, Deinits = 3;
  struct Job {
    Plain<int> next, chunk, deinits[MaxCount], countWhenReplaced;
    rl::atomic<int> isLetGo;
    int destroyed = 0;
    bool isMade = false;
  } jobs[1 + Deinits];
  Atomic<int> openJob;
  /// The newest incoming job of the actor, as in actor-claim-order.
  rl::atomic<int> newest;
  int runs[1 + Deinits] = {};

  static int word(int job, int count, bool isBorrowed) { return job * 64 + count * 2 + isBorrowed; }
  static int jobOf(int word) { return word / 64; }
  static int countOf(int word) { return word % 64 / 2; }

  void before() {
    openJob.rl::atomic<int>::store(0, rl::mo_relaxed, $);
    newest.store(0, rl::mo_relaxed, $);
  }

  void destroy(Job &job) {
    job.chunk.write(-1);
    job.countWhenReplaced.write(-1);
    for (auto &deinit : job.deinits)
      deinit.write(-1);
    ++job.destroyed;
  }
  void letGo(Job &job) {
    if (job.isLetGo.exchange(true, LetGo.success, $))
      destroy(job);
  }

  bool borrow(int &open) {
    // Two loads of one word each.
    int first = openJob.load(Peek), second = openJob.load(Peek);
    open = word(jobOf(first), countOf(second), second & 1);
    while (jobOf(open) && !(open & 1)) {
      int borrowed = word(jobOf(open), countOf(open), MarkBorrowed);
      if (openJob.swapWeak(open, borrowed, Borrow)) {
        open = borrowed;
        return true;
      }
    }
    return !jobOf(open);
  }

  void send(int deinit) {
    int open;
    bool canOpen = borrow(open);
    int last = canOpen ? jobOf(open) : 0;
    if (last) {
      int count = countOf(open);
      if (last == newest.load(rl::mo_relaxed, $) && count < MaxCount) {
        jobs[last].chunk.write(jobs[last].chunk.read() + 1);
        jobs[last].deinits[count].write(deinit);
        if (openJob.swap(open, word(last, count + 1, false), GiveBack))
          return;
        if (LetGoClosed)
          letGo(jobs[last]);
        last = open = 0;
      } else if (WriteCount)
        jobs[last].countWhenReplaced.write(count);
    }
    auto &job = jobs[deinit];
    job.isMade = true;
    job.chunk.write(0);
    job.isLetGo.store(false, rl::mo_relaxed, $);
    job.deinits[0].write(deinit);
    job.countWhenReplaced.write(1);
    if (canOpen && !openJob.swap(open, word(deinit, 1, false), Replace) && last && LetGoReplaced)
      letGo(jobs[last]);
    int next = newest.load(rl::mo_relaxed, $);
    do
      job.next.write(next);
    while (!newest.compare_exchange(rl::bool_t<false>(), next, deinit, rl::mo_release, rl::mo_relaxed, $));
  }

  void run(int number) {
    auto &job = jobs[number];
    // Only a shared job does this. One that is not the open job finds another.
    int open = openJob.load(LoadOpen), closed = 0;
    while (jobOf(open) == number && !closed)
      if (openJob.swapWeak(open, 0, Close))
        closed = open;
    int count = closed ? countOf(closed) : job.countWhenReplaced.read();
    for (int i = 0; i != count; ++i)
      ++runs[job.deinits[i].read()];
    if (closed & 1)
      letGo(job);
    else
      destroy(job);
  }

  void runAll() {
    int job = newest.exchange(0, rl::mo_acquire, $);
    while (job) {
      int next = jobs[job].next.read();
      run(job);
      job = next;
    }
  }

  void thread(unsigned index) {
    if (index == 0)
      return runAll();
    send(index);
    if (index == 1)
      send(3);
  }

  void after() {
    runAll();
    for (int i = 1; i <= Deinits; ++i)
      RL_ASSERT(runs[i] == 1 && jobs[i].destroyed == jobs[i].isMade);
  }
};

int main(int argc, char **argv) { return search<SharedJobs>(argc, argv, /*bound*/ 2); }
