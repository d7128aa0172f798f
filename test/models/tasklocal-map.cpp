// A map of all bindings that are visible from an item of a task's list. The item has a
// reference to it, or a count of the tasks that have copied it. Any thread that may read the
// item can set that with a compare-and-swap: the task that owns it, and child tasks, which do
// not outlive it. So the item's reference is there while they take one of their own. Who
// comes second gives up its own map. The last reference may go on any thread.
//
// Here a task owns two items, `top` above `bottom`. The top was copied often, so two children
// that capture it at the same time make a map; another one captures the bottom, which it
// copies if it is early enough. The last child to end pops the items, and each child drops
// its reference after that or before it.

// REQUIRES: relacy
// RUN: %check-model

// FAULT publish=relaxed/relaxed: DATA RACE
// FAULT existing=relaxed: DATA RACE
// FAULT last=relaxed: DATA RACE
// FAULT drop=acquire: DATA RACE
// FAULT drop=release: DATA RACE
// FAULT -give-up: USER ASSERT FAILED
// FAULT -lose: USER ASSERT FAILED|DATA RACE
// FAULT -retain: USER ASSERT FAILED|DATA RACE
// FAULT -take-count: USER ASSERT FAILED|DATA RACE|LIVELOCK

#include "model.h"

static Order Publish("publish"), Existing("existing"), Look("look"), Count("count"), Retain("retain"), Last("last"),
    Drop("drop");
static Step GiveUp("give-up"), Lose("lose"), TakeReference("retain"), TakeCount("take-count");

struct TaskLocalMap : rl::test_suite<TaskLocalMap, 3> {
  static constexpr int Children = 3, Often = 2, MaxCount = 7;

  struct Map {
    Atomic<int> references;
    /// What the map holds; 0 when it is destroyed, which counts as a write to all of it.
    Plain<int> content;
    bool isMade = false, isDestroyed = false;
  };
  /// The first places stand for counts.
  static constexpr int FirstMap = MaxCount + 1;
  Map maps[FirstMap + 2 * Children];
  struct Item {
    Item *next;
    int value;
    Atomic<int> mapOrCount;
  } top, bottom;
  Atomic<int> running;

  void before() {
    top.next = &bottom;
    bottom.next = nullptr;
    top.value = 1, bottom.value = 10;
    top.mapOrCount.store(Often, Look);
    bottom.mapOrCount.store(Often - 1, Look);
    running.rl::atomic<int>::store(Children, rl::mo_relaxed, $);
  }

  int make(int place, int content) {
    auto &map = maps[place];
    map.isMade = true;
    map.references.store(1, Look);
    map.content.write(content);
    return place;
  }

  void release(int place) {
    auto &map = maps[place];
    if (map.references.load(Last) != 1 && map.references.subtract(1, Drop) != 1)
      return;
    map.content.write(0);
    RL_ASSERT(!map.isDestroyed);
    map.isDestroyed = true;
  }

  int getExistingMap(Item &item) {
    int word = item.mapOrCount.load(Existing);
    return word <= MaxCount ? 0 : word;
  }

  bool countUses(Item &item, int count) {
    int word = item.mapOrCount.load(Look);
    if (word < Often)
      item.mapOrCount.swap(word, word + count, Count);
    return word >= Often;
  }

  int getMap(Item &item, int place) {
    int map = getExistingMap(item);
    return map ? map : makeMap(item, place);
  }

  int makeMap(Item &item, int place) {
    int uses = item.mapOrCount.load(Look);
    int content = item.value;
    if (auto *below = item.next) {
      int word = below->mapOrCount.load(Look);
      if (word > MaxCount || word > uses) {
        // The new map would share parts of this one.
        int base = getMap(*below, place + 1);
        content += maps[base].content.read();
      } else {
        countUses(*below, Often + 1);
        content += below->value;
      }
    }
    int map = make(place, content);
    int word = 0;
    while (!item.mapOrCount.swapWeak(word, map, Publish)) {
      if (word > MaxCount && Lose) {
        if (GiveUp)
          release(map);
        return getExistingMap(item);
      }
      if (!TakeCount)
        word = 0;
    }
    return map;
  }

  void pop(Item &item) {
    if (int map = getExistingMap(item))
      release(map);
  }

  void thread(unsigned index) {
    auto &item = index ? top : bottom;
    int map = getExistingMap(item);
    if (!map && countUses(item, 1))
      map = getMap(item, FirstMap + 2 * index);
    if (map && TakeReference)
      maps[map].references.add(1, Retain);
    // The end of a child orders all that it did before what its parent does next.
    if (running.rl::atomic<int>::fetch_sub(1, rl::mo_acq_rel, $) == 1) {
      pop(top);
      pop(bottom);
    }
    if (!map)
      return;
    RL_ASSERT(maps[map].content.read() == (index ? 11 : 10));
    release(map);
  }

  void after() {
    for (auto &map : maps)
      RL_ASSERT(map.isMade == map.isDestroyed);
  }
};

int main(int argc, char **argv) { return search<TaskLocalMap>(argc, argv, /*bound*/ 2); }
