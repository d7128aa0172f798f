// The answer of a cast, for a generation of the registered conformances. Loading an image
// registers its conformances, and then ends the generation.
//
// A cast loads the generation, before it looks up anything. It reads an entry's generation with
// acquire, and then the answer, once: it gets the answer that was stored before that generation,
// or a newer one, which is as good, and publishes what it leads to. A writer claims the entry by
// a compare-and-swap, stores the answer, and releases the generation. Nobody waits for a writer.
//
// Here an image is loaded whose witness table is a better answer. Whoever casts after the image
// has been loaded must find it, whatever others stored meanwhile.

// REQUIRES: relacy
// RUN: %check-model

// FAULT known=relaxed: DATA RACE|USER ASSERT FAILED
// FAULT load-answer=relaxed: DATA RACE
// FAULT store-answer=relaxed: DATA RACE
// FAULT set=relaxed: DATA RACE|USER ASSERT FAILED
// FAULT load-generation=relaxed: USER ASSERT FAILED
// FAULT end-generation=relaxed: USER ASSERT FAILED
// FAULT -generation-first: USER ASSERT FAILED
// FAULT -end-after-registration: USER ASSERT FAILED
// FAULT -only-newer: USER ASSERT FAILED
// FAULT -claim: USER ASSERT FAILED
// FAULT -load-once: USER ASSERT FAILED

// NOT SEEN claim=relaxed/relaxed: it orders an older answer before this one. relacy lets all stores
// to a variable take effect in the order in which it runs them: see cast-memo-claim.litmus.

#include "model.h"

static Order Known("known"), LoadAnswer("load-answer"), LookEntry("look"), Claim("claim"), StoreAnswer("store-answer"),
    Set("set"), LoadGeneration("load-generation"), EndGeneration("end-generation");
static Step GenerationFirst("generation-first"), EndAfterRegistration("end-after-registration"),
    OnlyNewer("only-newer"), UseClaim("claim"), LoadOnce("load-once");

struct CastMemo : rl::test_suite<CastMemo, 3> {
  static constexpr int Busy = 1000;
  Atomic<int> generation;
  /// How many sections are registered. The registry has a lock, or publishes with release.
  rl::atomic<int> sections;
  /// The witness tables: 1 is there from the beginning, 2 is of the new image.
  Plain<int> witness[3];
  Atomic<int> entryGeneration, answer;

  void before() {
    generation.rl::atomic<int>::store(1, rl::mo_relaxed, $);
    sections.store(1, rl::mo_relaxed, $);
    entryGeneration.rl::atomic<int>::store(0, rl::mo_relaxed, $);
    answer.rl::atomic<int>::store(0, rl::mo_relaxed, $);
    witness[1].write(1);
  }

  void load() {
    witness[2].write(2);
    if (!EndAfterRegistration)
      generation.add(1, EndGeneration);
    sections.store(2, rl::mo_release, $);
    if (EndAfterRegistration)
      generation.add(1, EndGeneration);
  }

  void set(int current, int found) {
    int old = entryGeneration.load(LookEntry);
    if (OnlyNewer && old >= current)
      return;
    if (old == Busy)
      return;
    if (UseClaim && !entryGeneration.swap(old, Busy, Claim))
      return;
    answer.store(found, StoreAnswer);
    entryGeneration.store(current, Set);
  }

  int cast() {
    int found = GenerationFirst ? 0 : sections.load(rl::mo_acquire, $);
    int current = generation.load(LoadGeneration);
    if (entryGeneration.load(Known) == current) {
      int type = answer.load(LoadAnswer), table = LoadOnce ? type : answer.load(LoadAnswer);
      RL_ASSERT(type == table);
      return table;
    }
    if (GenerationFirst)
      found = sections.load(rl::mo_acquire, $);
    set(current, found);
    return found;
  }

  void use(int found, bool isLoaded) {
    RL_ASSERT(found == 2 || (found == 1 && !isLoaded));
    RL_ASSERT(witness[found].read() == found);
  }

  void thread(unsigned index) {
    if (index == 0) {
      load();
      use(cast(), true);
      use(cast(), true);
    } else
      use(cast(), false);
  }

  /// The image has been loaded long ago, for every thread.
  void after() {
    use(cast(), true);
    use(cast(), true);
  }
};

int main(int argc, char **argv) { return search<CastMemo>(argc, argv, /*bound*/ 2); }
