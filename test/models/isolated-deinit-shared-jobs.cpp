// Deinits that are sent to one actor share a job while it is open. The open job of an actor is
// one word (of two words in the code): the job, how many deinits it has, and whether a sender
// has borrowed it. A sender borrows the job, writes its deinit behind the others, and gives the
// job back with one more; or it writes down the count in the job, does not look at it again, and
// opens another job. The runner finds that count, or closes the job, and runs what is counted.
// If a sender had borrowed the job that was closed, then that one finds it closed; whoever of the
// two comes second destroys the job.
//
// Here one sender sends two deinits and another one sends one; a job has two at most.

// REQUIRES: relacy
// RUN: %check-model

// FAULT borrow=relaxed/relaxed: DATA RACE
// FAULT give-back=relaxed/relaxed: DATA RACE
// FAULT replace=relaxed/relaxed: DATA RACE
// FAULT load-open=relaxed: DATA RACE|USER ASSERT FAILED
// FAULT store-count=relaxed: DATA RACE
// FAULT load-count=relaxed: DATA RACE
// FAULT close=acquire/relaxed: DATA RACE
// FAULT close=relaxed/acquire: DATA RACE
// FAULT let-go=acquire: DATA RACE
// FAULT let-go=release: DATA RACE
// FAULT -mark-borrowed: DATA RACE|USER ASSERT FAILED
// FAULT -write-count: USER ASSERT FAILED
// FAULT -count-unopened: USER ASSERT FAILED
// FAULT -let-go-closed: USER ASSERT FAILED
// FAULT -let-go-replaced: USER ASSERT FAILED

#include "model.h"

static Order Peek("peek"), Borrow("borrow"), GiveBack("give-back"), Replace("replace"), LoadOpen("load-open"),
    Close("close"), LetGo("let-go"), StoreCount("store-count"), LoadCount("load-count"),
    LoadCountAgain("load-count-again");
static Step MarkBorrowed("mark-borrowed"), WriteCount("write-count"), CountUnopened("count-unopened"),
    LetGoClosed("let-go-closed"), LetGoReplaced("let-go-replaced");

struct SharedJobs : rl::test_suite<SharedJobs, 3> {
  static constexpr int MaxCount = 2, Deinits = 3;
  struct Job {
    Plain<int> next, chunk, deinits[MaxCount];
    Atomic<int> countWhenReplaced;
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
    job.countWhenReplaced.rl::atomic<int>::store(-1, rl::mo_relaxed, $);
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
        jobs[last].countWhenReplaced.store(count, StoreCount);
    }
    auto &job = jobs[deinit];
    job.isMade = true;
    job.chunk.write(0);
    job.isLetGo.store(false, rl::mo_relaxed, $);
    job.deinits[0].write(deinit);
    // A job that nobody opens is a plain one here: it has one deinit.
    job.countWhenReplaced.rl::atomic<int>::store(canOpen ? 0 : 1, rl::mo_relaxed, $);
    if (canOpen && !openJob.swap(open, word(deinit, 1, false), Replace)) {
      if (CountUnopened)
        job.countWhenReplaced.store(1, StoreCount);
      if (last && LetGoReplaced)
        letGo(jobs[last]);
    }
    int next = newest.load(rl::mo_relaxed, $);
    do
      job.next.write(next);
    while (!newest.compare_exchange(rl::bool_t<false>(), next, deinit, rl::mo_release, rl::mo_relaxed, $));
  }

  void run(int number) {
    auto &job = jobs[number];
    int closed = 0, count = job.countWhenReplaced.load(LoadCount);
    RL_ASSERT(count >= 0);
    if (!count) {
      // The word of the job and then that of the count; the swap tells whether they belong together.
      int first = openJob.load(Peek), second = openJob.load(Peek);
      int open = word(jobOf(first), countOf(second), second & 1);
      if (jobOf(open) != number)
        open = openJob.load(LoadOpen);
      while (jobOf(open) == number && !closed)
        if (openJob.swapWeak(open, 0, Close))
          closed = open;
      count = closed ? countOf(closed) : job.countWhenReplaced.load(LoadCountAgain);
    }
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
