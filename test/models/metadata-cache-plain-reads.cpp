// A map that keeps its tables. Writers hold a lock, readers write nothing.
//
// A writer stores: the array of elements if it has grown, the element, the count, the
// index. The order of a reader's loads is the reverse. Whatever count is seen, the array
// that is loaded after it holds at least as many; whatever index is seen, the element
// that it stands for is complete, or is not below the count and is passed over.

// REQUIRES: relacy
// RUN: %check-model

// FAULT load-indices=relaxed: DATA RACE
// FAULT load-count=relaxed: DATA RACE|ACCESS TO UNINITIALIZED VARIABLE|USER ASSERT FAILED
// FAULT load-elements=relaxed: DATA RACE|ACCESS TO UNINITIALIZED VARIABLE
// FAULT store-count=relaxed: DATA RACE|ACCESS TO UNINITIALIZED VARIABLE|USER ASSERT FAILED
// FAULT -elements-last: USER ASSERT FAILED|ACCESS TO UNINITIALIZED VARIABLE
// FAULT -element-first: DATA RACE|ACCESS TO UNINITIALIZED VARIABLE
// FAULT -compare-count: DATA RACE|ACCESS TO UNINITIALIZED VARIABLE|USER ASSERT FAILED

// NOT NEEDED -store-count-first: a reader passes over an index that is not below its count.
// NOT NEEDED -load-indices-first: the same.
// NOT NEEDED load-index=relaxed: an element below a count that was acquired is complete; maps that
// are searched in a snapshot use the same function.
// NOT NEEDED store-index=relaxed: as above.
// NOT NEEDED store-indices=release: seq_cst is for maps that free their tables.
// NOT NEEDED store-elements=release: as above.

#include "model.h"

static Order LoadIndices("load-indices"), LoadCount("load-count"), LoadElements("load-elements"),
    LoadIndex("load-index"), StoreIndices("store-indices"), StoreElements("store-elements"),
    StoreCount("store-count"), StoreIndex("store-index");
static Step CountFirst("store-count-first"), IndicesFirst("load-indices-first"), ElementsLast("elements-last"), ElementFirst("element-first"), CompareCount("compare-count");

struct Indices {
  Plain<int> capacity;
  Atomic<int> at[3];
};

struct Elements {
  int capacity;
  Plain<int> keys[3];
};

struct Map : rl::test_suite<Map, 2> {
  Indices tables[2];
  Elements arrays[2];
  Atomic<Indices *> indices;
  Atomic<int> count;
  Atomic<Elements *> elements;

  // One element is there, for which both tables are just large enough.
  void before() {
    for (auto &table : tables)
      for (auto &index : table.at)
        index.store(0, StoreIndex);
    arrays[0].capacity = 1;
    arrays[1].capacity = 3;
    tables[0].capacity.write(2);
    tables[0].at[0].store(1, StoreIndex);
    arrays[0].keys[0].write(100);
    elements.store(&arrays[0], StoreElements);
    count.store(1, StoreCount);
    indices.store(&tables[0], StoreIndices);
  }

  void insert(int position, int key) {
    auto *array = elements.newest();
    auto *table = indices.newest();
    if (position == 1) {
      table = &tables[1];
      table->capacity.write(3);
      table->at[0].store(1, StoreIndex);
      indices.store(table, StoreIndices);
      array = &arrays[1];
      array->keys[0].write(100);
      elements.store(array, StoreElements);
    }
    if (ElementFirst)
      array->keys[position].write(key);
    if (CountFirst) {
      count.store(position + 1, StoreCount);
      table->at[position].store(position + 1, StoreIndex);
    } else {
      table->at[position].store(position + 1, StoreIndex);
      count.store(position + 1, StoreCount);
    }
    if (!ElementFirst)
      array->keys[position].write(key);
  }

  /// Searches all positions, and so compares each key that a look-up can come to.
  void find() {
    auto *table = indices.load(LoadIndices);
    auto *early = ElementsLast ? nullptr : elements.load(LoadElements);
    auto number = count.load(LoadCount);
    auto *array = ElementsLast ? elements.load(LoadElements) : early;
    if (!IndicesFirst)
      table = indices.load(LoadIndices);
    for (int i = 0; i != table->capacity.read(); ++i) {
      int index = table->at[i].load(LoadIndex);
      if (index == 0)
        return;
      if (index - 1 < number || !CompareCount) {
        RL_ASSERT(index - 1 < array->capacity);
        RL_ASSERT(array->keys[index - 1].read() == 99 + index);
      }
    }
  }

  void thread(unsigned index) {
    if (index)
      return find();
    insert(1, 101);
    insert(2, 102);
  }
};

int main(int argc, char **argv) { return search<Map>(argc, argv); }
