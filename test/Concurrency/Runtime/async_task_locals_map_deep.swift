// RUN: %target-run-simple-swift( -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library -Xfrontend -enable-builtin-module) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// 100,000 nested bindings, inherited by a task that outlives their scopes:
// destroying them must not recurse, also if the values use task-locals when they
// die. And the same when they all bind one key.

import Builtin
import Synchronization

// What withValue calls, to get by without a stack frame for each binding.
@_silgen_name("swift_task_localValuePush")
func localValuePush<Value>(_ key: Builtin.RawPointer, _ value: __owned Value)
@_silgen_name("swift_task_localValuePop")
func localValuePop()

let alive = Atomic<Int>(0)
let tasksInDeinit = Atomic<Int>(0)
let tasksSeen = Atomic<Int>(0)

enum TL {
  @TaskLocal static var inDeinit = 0
}

final class Value: Sendable {
  let number: Int
  init(_ number: Int) {
    self.number = number
    alive.add(1, ordering: .relaxed)
  }
  deinit {
    alive.subtract(1, ordering: .relaxed)
    if number % 1000 == 0 {
      TL.$inDeinit.withValue(number) {
        tasksInDeinit.add(1, ordering: .relaxed)
        let number = number
        Task {
          precondition(TL.inDeinit == number)
          tasksSeen.add(1, ordering: .relaxed)
        }
      }
    }
  }
}

func push(_ key: TaskLocal<Value?>, _ number: Int) {
  localValuePush(
    unsafeBitCast(key, to: Builtin.RawPointer.self), Optional(Value(number)))
}

/// Bind \p keys one in the other, and return a task which inherits that and
/// ends after all scopes.
func nest(_ keys: [TaskLocal<Value?>], everyTask: Int) -> [Task<Int, Never>] {
  var tasks: [Task<Int, Never>] = []
  for (i, key) in keys.enumerated() {
    push(key, i)
    if (i + 1) % everyTask == 0 {
      tasks.append(
        Task {
          while !Task.isCancelled { await Task.yield() }
          return keys[i].get()!.number
        })
    }
  }
  for _ in keys { localValuePop() }
  return tasks
}

/// The number of values that are alive when the tasks that their deinits have
/// started, which inherit bindings, too, have ended.
func countAlive(_ expected: Int) async -> Int {
  let clock = ContinuousClock()
  let deadline = clock.now.advanced(by: .seconds(60))
  while alive.load(ordering: .relaxed) != expected, clock.now < deadline {
    await Task.yield()
  }
  return alive.load(ordering: .relaxed)
}

@main struct Main {
  static func test(
    _ name: String, _ keys: [TaskLocal<Value?>], everyTask: Int, alive: Int
  ) async {
    let tasks = nest(keys, everyTask: everyTask)
    print("\(name): \(await countAlive(alive)) alive")
    for task in tasks {
      task.cancel()
      _ = await task.value
    }
    print("\(name): \(await countAlive(0)) in the end")
  }

  static func main() async {
    let count = 100_000
    let keys = (0..<count).map { _ in TaskLocal<Value?>(wrappedValue: nil) }
    // CHECK: many keys: 100000 alive
    // CHECK: many keys: 0 in the end
    await test("many keys", keys, everyTask: count, alive: count)

    let sameKey = [TaskLocal<Value?>](repeating: keys[0], count: count)
    // CHECK: one key: 1 alive
    // CHECK: one key: 0 in the end
    await test("one key", sameKey, everyTask: count, alive: 1)
    // CHECK: one key, many tasks: 100 alive
    // CHECK: one key, many tasks: 0 in the end
    await test(
      "one key, many tasks", sameKey, everyTask: count / 100, alive: 100)

    while tasksSeen.load(ordering: .relaxed)
            != tasksInDeinit.load(ordering: .relaxed) {
      await Task.yield()
    }
    // CHECK: done
    print("done")
  }
}
