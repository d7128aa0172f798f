// The table of the answers of casts. An entry is taken by counting, its key is written, and its
// number is put into a slot by a compare-and-swap with release. A reader loads the slot with
// acquire, and then the key. A thread that finds the slot taken compares with the key that is
// there: so each key has one entry.
//
// Here two threads add the same key, and then one another, while a third searches; there are two
// slots, and all searches begin at the first.

// REQUIRES: relacy
// RUN: %check-model

// FAULT find=relaxed: DATA RACE
// FAULT find-or-add=relaxed: DATA RACE
// FAULT add=relaxed/acquire: DATA RACE
// FAULT add=release/relaxed: DATA RACE
// FAULT -key-first: DATA RACE
// FAULT -compare: USER ASSERT FAILED

#include "model.h"

static Order Find("find"), FindOrAdd("find-or-add"), Add("add");
static Step KeyFirst("key-first"), Compare("compare");

struct Table : rl::test_suite<Table, 3> {
  static constexpr int SlotCount = 3;
  rl::atomic<int> used;
  Atomic<int> slots[SlotCount];
  Plain<int> keys[4];

  void before() {
    used.store(0, rl::mo_relaxed, $);
    for (auto &slot : slots)
      slot.rl::atomic<int>::store(0, rl::mo_relaxed, $);
  }

  int find(int key) {
    for (int i = 0; i != SlotCount; ++i) {
      int number = slots[i].load(Find);
      if (!number)
        return -1;
      if (keys[number - 1].read() == key)
        return number - 1;
    }
    return -1;
  }

  int findOrAdd(int key) {
    int added = -1;
    for (int i = 0; i != SlotCount; ++i) {
      int number = slots[i].load(FindOrAdd);
      if (!number) {
        if (added < 0) {
          added = used.fetch_add(1, rl::mo_relaxed, $);
          if (KeyFirst)
            keys[added].write(key);
        }
        if (slots[i].swap(number, added + 1, Add)) {
          if (!KeyFirst)
            keys[added].write(key);
          return added;
        }
      }
      if (Compare && keys[number - 1].read() == key)
        return number - 1;
    }
    RL_ASSERT(false);
    return -1;
  }

  void thread(unsigned index) {
    if (index == 2) {
      find(1);
      find(2);
      return;
    }
    int mine = findOrAdd(1);
    RL_ASSERT(find(1) == mine);
    if (index == 0)
      RL_ASSERT(findOrAdd(2) != mine);
  }

  void after() {
    int seen = 0;
    for (auto &slot : slots)
      if (int number = slot.newest())
        seen += keys[number - 1].read() == 1;
    RL_ASSERT(seen == 1);
  }
};

int main(int argc, char **argv) { return search<Table>(argc, argv, /*bound*/ 3); }
