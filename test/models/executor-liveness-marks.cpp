// Each thread marks its jobs in a record, which others read. Only the owner writes it. Epoch is
// odd in a job or scope, and other fields change only while it is even: see Liveness.h. What a job
// leads to may be gone at any time: it is read by system calls, and counts if Epoch is the same.
//
// A record is free while it has no owner, and a thread that exits gives its own back.

// REQUIRES: relacy
// RUN: %check-model

// FAULT odd=relaxed: USER ASSERT FAILED
// FAULT fence=relaxed: USER ASSERT FAILED
// FAULT read-epoch=relaxed: USER ASSERT FAILED
// FAULT read-fence=relaxed: USER ASSERT FAILED
// FAULT take=relaxed/relaxed: DATA RACE
// FAULT give=relaxed: DATA RACE|USER ASSERT FAILED
// FAULT -even: USER ASSERT FAILED
// FAULT -look-again: USER ASSERT FAILED
// FAULT -end: USER ASSERT FAILED

#include "model.h"

static Order Own("own"), Field("field"), Even("even"), Fence("fence"), Odd("odd"), ReadEpoch("read-epoch"),
    ReadField("read-field"), ReadFence("read-fence"), ReadAgain("read-again"), Look("look"), Take("take"), Give("give"),
    Count("count");
static Step MakeEven("even"), LookAgain("look-again"), EndJob("end");

/// Thread 0 reads, the others run a job each. With one of them, its job has job 3 in it, and
/// leaves its executor.
template <int Threads> struct Records : rl::test_suite<Records<Threads>, Threads> {
  struct Record {
    Atomic<int> owner, epoch, job, executor;
    Plain<int> forMonitor;
    /// What there is with each odd value of Epoch.
    int truth[32] = {};
  } records[2];
  Atomic<int> count;
  /// What a job's memory holds: its number, and something else when it is gone.
  rl::atomic<int> memory[4];

  void before() {
    for (auto &record : records) {
      for (auto *field : {&record.owner, &record.epoch, &record.job, &record.executor})
        field->rl::atomic<int>::store(0, rl::mo_relaxed, $);
      record.forMonitor.write(0);
    }
    count.rl::atomic<int>::store(0, rl::mo_relaxed, $);
    for (int i = 0; i != 4; ++i)
      memory[i].store(i, rl::mo_relaxed, $);
  }

  template <typename Change> void changeRecord(Record &record, Change change) {
    int epoch = record.epoch.load(Own);
    if (epoch & 1 && MakeEven)
      record.epoch.store(++epoch, Even);
    fence(Fence);
    change();
    if (int job = record.job.load(Own)) {
      epoch += MakeEven || !(epoch & 1) ? 1 : 2;
      record.truth[epoch] = job * 100 + record.executor.newest() * 10 + record.owner.newest();
      record.epoch.store(epoch, Odd);
    }
  }
  void setJob(Record &record, int job) {
    changeRecord(record, [&] { record.job.store(job, Field); });
  }

  int takeRecord(int thread) {
    for (int i = 0;; ++i) {
      RL_ASSERT(i != 2);
      int owner = records[i].owner.load(Look);
      if (owner || !records[i].owner.swap(owner, thread, Take))
        continue;
      int known = count.load(Count);
      while (known <= i && !count.swapWeak(known, i + 1, Count))
        ;
      return i;
    }
  }

  void thread(unsigned index) {
    if (index == 0)
      return read(records[0]);
    int own = takeRecord(index);
    auto &record = records[own];
    changeRecord(record, [&] { record.executor.store(index, Field); });
    record.forMonitor.write(record.forMonitor.read() + 1);
    setJob(record, index);
    if (Threads == 2) {
      setJob(record, 3);
      setJob(record, 1);
      changeRecord(record, [&] { record.executor.store(3, Field); });
    }
    if (EndJob)
      setJob(record, 0);
    memory[index].store(0, rl::mo_relaxed, $);
    record.owner.store(0, Give);
  }

  void read(Record &record) {
    int epoch = record.epoch.load(ReadEpoch);
    if (!(epoch & 1))
      return;
    int job = record.job.load(ReadField), executor = record.executor.load(ReadField);
    int owner = record.owner.load(ReadField), content = memory[job].load(rl::mo_relaxed, $);
    fence(ReadFence);
    if (LookAgain && record.epoch.load(ReadAgain) != epoch)
      return;
    RL_ASSERT(record.truth[epoch] == job * 100 + executor * 10 + owner);
    RL_ASSERT(content == job);
  }

  void after() {
    // All have left.
    RL_ASSERT(!records[0].owner.newest() && !records[1].owner.newest());
  }
};

int main(int argc, char **argv) { return search<Records<2>, Records<3>>(argc, argv, /*bound*/ 2); }
