// The names of types that are not there. A slot is read while it may be replaced: a writer makes its
// sequence number odd, stores the name and the generation, and makes the number even again. A reader
// reads them between two loads of the number.
//
// A name is kept for a generation of the registered records. The generation is loaded before the
// records are searched, and a registration ends it when the records can be found.
//
// Here a name has two words. Two names are looked up that are not there, and one that is, which has
// the first word of the one and the second word of the other. An image is loaded that has the first
// one.

// REQUIRES: relacy
// RUN: %check-model

// FAULT load-word=relaxed: USER ASSERT FAILED
// FAULT store-word=relaxed: USER ASSERT FAILED
// FAULT first-look=relaxed: USER ASSERT FAILED
// FAULT set=relaxed: USER ASSERT FAILED
// FAULT load-generation=relaxed: USER ASSERT FAILED
// FAULT end-generation=relaxed: USER ASSERT FAILED
// FAULT -claim: USER ASSERT FAILED
// FAULT -odd: USER ASSERT FAILED
// FAULT -second-look: USER ASSERT FAILED
// FAULT -generation-first: USER ASSERT FAILED
// FAULT -end-after-registration: USER ASSERT FAILED

// NOT SEEN claim=relaxed/relaxed: it orders the stores of the writer before this one. relacy lets all
// stores to a variable take effect in the order in which it runs them.

#include "model.h"

static Order LoadWord("load-word"), StoreWord("store-word"), FirstLook("first-look"), SecondLook("second-look"),
    LookToWrite("look"), Claim("claim"), Set("set"), LoadGeneration("load-generation"),
    EndGeneration("end-generation");
static Step UseClaim("claim"), UseOdd("odd"), UseSecondLook("second-look"), GenerationFirst("generation-first"),
    EndAfterRegistration("end-after-registration");

struct Misses : rl::test_suite<Misses, 3> {
  Atomic<int> sequence, keptGeneration, words[2];
  Atomic<int> generation;
  /// Whether the image's records are registered. The list of records publishes with release.
  rl::atomic<int> registered;

  void before() {
    sequence.rl::atomic<int>::store(0, rl::mo_relaxed, $);
    keptGeneration.rl::atomic<int>::store(0, rl::mo_relaxed, $);
    for (auto &word : words)
      word.rl::atomic<int>::store(0, rl::mo_relaxed, $);
    generation.rl::atomic<int>::store(1, rl::mo_relaxed, $);
    registered.store(0, rl::mo_relaxed, $);
  }

  void loadImage() {
    if (!EndAfterRegistration)
      generation.add(1, EndGeneration);
    registered.store(1, rl::mo_release, $);
    if (EndAfterRegistration)
      generation.add(1, EndGeneration);
  }

  bool contains(int first, int second, int current) {
    int number = sequence.load(FirstLook);
    if (UseOdd && number % 2)
      return false;
    if (keptGeneration.load(LoadWord) != current || words[0].load(LoadWord) != first ||
        words[1].load(LoadWord) != second)
      return false;
    return !UseSecondLook || sequence.load(SecondLook) == number;
  }

  void add(int first, int second, int current) {
    int number = sequence.load(LookToWrite);
    if (number % 2)
      return;
    if (UseClaim) {
      if (!sequence.swap(number, number + 1, Claim))
        return;
    } else
      sequence.store(number + 1, Set);
    keptGeneration.store(current, StoreWord);
    words[0].store(first, StoreWord);
    words[1].store(second, StoreWord);
    sequence.store(number + 2, Set);
  }

  bool search(int first, int second) {
    return first != second || (first == 1 && registered.load(rl::mo_acquire, $));
  }

  bool lookUp(int first, int second) {
    bool early = GenerationFirst ? false : search(first, second);
    int current = generation.load(LoadGeneration);
    if (contains(first, second, current))
      return false;
    bool found = GenerationFirst ? search(first, second) : early;
    if (!found)
      add(first, second, current);
    return found;
  }

  void thread(unsigned index) {
    if (index == 0) {
      loadImage();
      RL_ASSERT(lookUp(1, 1));
      RL_ASSERT(!lookUp(2, 2));
    } else if (index == 1) {
      lookUp(1, 1);
    } else {
      RL_ASSERT(lookUp(1, 2));
    }
  }

  /// The image has been loaded long ago, for every thread.
  void after() {
    RL_ASSERT(lookUp(1, 1));
    RL_ASSERT(lookUp(1, 2));
  }
};

int main(int argc, char **argv) { return ::search<Misses>(argc, argv, /*bound*/ 3); }
