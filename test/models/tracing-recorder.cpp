// The chunks of the recorder. A ring's thread writes events into the chunk that it owns, and leaves
// it; another one takes it, and begins anew. Meanwhile somebody copies it. What was copied counts
// only if the chunk's sequence is the same before and after; then it is of one use, and each event
// whose first word is there is whole, and the word behind it is of that use, too. What the use
// before has left there would be taken for an event.

// REQUIRES: relacy
// RUN: %check-model

// FAULT publish=relaxed: USER ASSERT FAILED
// FAULT look=relaxed: USER ASSERT FAILED
// FAULT forget=relaxed: USER ASSERT FAILED
// FAULT valid=relaxed: USER ASSERT FAILED
// FAULT find=relaxed: USER ASSERT FAILED
// FAULT read=relaxed: USER ASSERT FAILED
// FAULT -invalidate: USER ASSERT FAILED
// FAULT -look-again: USER ASSERT FAILED
// FAULT -end: USER ASSERT FAILED
// FAULT give=relaxed: DATA RACE
// FAULT take=relaxed/relaxed: DATA RACE

#include "model.h"

static Order Publish("publish"), Look("look"), Forget("forget"), Valid("valid"), Find("find"), Read("read"),
    Again("again"), Word("word"), Clear("clear"), Give("give"), Take("take");
static Step Invalidate("invalidate"), LookAgain("look-again"), End("end");

struct Chunks : rl::test_suite<Chunks, 3> {
  Atomic<int> owner, sequence, header, head, word, behind;
  /// What only the owner uses.
  rl::var<int> kept;

  void before() {
    owner.rl::atomic<int>::store(1, rl::mo_relaxed, $);
    sequence.rl::atomic<int>::store(1, rl::mo_relaxed, $);
    header.rl::atomic<int>::store(1, rl::mo_relaxed, $);
    head.rl::atomic<int>::store(0, rl::mo_relaxed, $);
    word.rl::atomic<int>::store(0, rl::mo_relaxed, $);
    behind.rl::atomic<int>::store(99, rl::mo_relaxed, $);
    kept($) = 0;
  }

  void putEvent(int use) {
    word.store(10 * use, Word);
    if (End)
      behind.store(0, Word);
    head.store(use, Publish);
  }

  void thread(unsigned index) {
    if (index == 1) {
      putEvent(1);
      kept($) = 1;
      owner.store(0, Give);
    } else if (index == 2) {
      int nobody = 0;
      if (!owner.swap(nobody, 2, Take))
        return;
      kept($) = int(kept($)) + 1;
      if (Invalidate)
        sequence.store(0, Clear);
      fence(Forget);
      head.store(0, Clear);
      header.store(2, Clear);
      sequence.store(2, Valid);
      putEvent(2);
    } else {
      int use = sequence.load(Find);
      if (!use)
        return;
      int whose = header.load(Word), first = head.load(Look), second = first ? word.load(Word) : 0;
      int next = first ? behind.load(Look) : 0;
      fence(Read);
      if (LookAgain && sequence.load(Again) != use)
        return;
      RL_ASSERT(whose == use && (!first || (first == use && second == 10 * use && !next)));
    }
  }
};

int main(int argc, char **argv) { return search<Chunks>(argc, argv); }
