// Readers announce themselves in a slot: they store the address of the map with a
// compare-and-swap, and clear it with a release. A reader that finds its line full is counted
// in the map. Lines are given to threads as they come; a line is only a hint.
//
// A writer unlinks memory, executes a sequentially consistent fence, and then looks at the
// count and at all lines that were given. If it misses a claim, then the claim is later than
// the fence in the order of all sequentially consistent operations, and so are the reader's
// loads: it does not see the unlinked memory.
//
// Here there is one line of one slot, so that a second reader is counted, or takes the slot
// after the first. Freeing writes to the table, so whoever still reads it is in a data race.

// REQUIRES: relacy
// RUN: %check-model

// FAULT fence=acq_rel: DATA RACE
// FAULT -fence: DATA RACE
// FAULT clear=relaxed: DATA RACE
// FAULT look=relaxed: DATA RACE
// FAULT count-down=relaxed: DATA RACE
// FAULT look-count=relaxed: DATA RACE
// FAULT -claim: DATA RACE
// FAULT -count: DATA RACE
// FAULT -look: DATA RACE
// FAULT -unlink-first: DATA RACE
// FAULT claim=acq_rel/relaxed: DATA RACE
// FAULT count-up=acq_rel: DATA RACE
// FAULT load-table=acquire: DATA RACE

// NOT NEEDED unlink=release: the fence comes after it. (The count and clear() store with less.)
// NOT SEEN give=acq_rel/relaxed: C++ orders only what is sequentially consistent with the fence, but
// relacy orders all that comes before the claim: see runtime-cache-readers-lines.litmus.

#include "model.h"

static Order GivenLines("given"), Give("give"), UsedLines("used"), Claim("claim"), Clear("clear"), Look("look"),
    CountUp("count-up"), CountDown("count-down"), LookCount("look-count"), Load("load-table"), Unlink("unlink"),
    Fence("fence");
static Step UseFence("fence"), UseClaim("claim"), UseCount("count"), UseLook("look"), UnlinkFirst("unlink-first");

struct Readers : rl::test_suite<Readers, 3> {
  static constexpr int LineCount = 1;
  Atomic<int> given, slot, readers;
  Atomic<int> table;
  Plain<int> content[2];
  bool isFreed = false;

  void before() {
    given.store(0, GivenLines);
    slot.store(0, GivenLines);
    readers.store(0, GivenLines);
    content[0].write(1);
    table.rl::atomic<int>::store(0, rl::mo_relaxed, $);
  }

  void giveLine() {
    int number = given.load(GivenLines);
    while (!given.swapWeak(number, number + 1 == 2 * LineCount ? LineCount : number + 1, Give))
      ;
  }

  bool claim() {
    int expected = 0;
    return slot.swap(expected, 1, Claim);
  }

  void read() {
    giveLine();
    bool hasSlot = UseClaim && claim();
    if (UseClaim && !hasSlot && UseCount)
      readers.add(1, CountUp);
    RL_ASSERT(content[table.load(Load)].read() == 1);
    if (hasSlot)
      slot.store(0, Clear);
    else if (UseClaim && UseCount)
      readers.subtract(1, CountDown);
  }

  bool hasActiveReaders() {
    if (readers.load(LookCount) > 0)
      return true;
    int used = given.load(UsedLines);
    return used != 0 && slot.load(Look) != 0;
  }

  void write() {
    content[1].write(1);
    if (UnlinkFirst)
      table.store(1, Unlink);
    if (UseFence)
      fence(Fence);
    bool isUsed = UseLook && hasActiveReaders();
    if (!UnlinkFirst)
      table.store(1, Unlink);
    if (!isUsed)
      content[0].write(0);
  }

  void thread(unsigned index) { index ? read() : write(); }
};

int main(int argc, char **argv) { return search<Readers>(argc, argv, /*bound*/ 3); }
