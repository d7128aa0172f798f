// RUN: %empty-directory(%t)
// RUN: %target-build-swift -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %s %S/Inputs/CountedTaskLocals.swift -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// 100,000 tasks in a chain, each of which binds a key, a new one or one that a task
// before it has bound, and creates the next: by Task {}, as a child of a group, in the
// body of a group or not, or by async let. All see the newest value of each key, and a
// value dies when no task sees it.

import Synchronization

let keys = makeKeys(60)

/// The key that link \p i of a chain binds.
func key(_ i: Int) -> Int { (i &* i) % keys.count }

func check(_ expected: [Int], _ i: Int) {
  for (number, key) in zip(expected, keys) {
    let value = key.get()?.number ?? -1
    precondition(value == number, "link \(i): \(value), not \(number)")
  }
}

func unstructured(_ i: Int, _ count: Int, _ expected: [Int]) async {
  var expected = expected
  if i % 499 == 0 { check(expected, i) }
  if i == count {
    check(expected, i)
    // What the tasks see, and what those bind that have not yet ended.
    precondition(alive.load(ordering: .relaxed) <= keys.count + 2000)
    return done.resume()
  }
  expected[key(i)] = i
  keys[key(i)].withValue(Value(i)) {
    let expected = expected
    Task { await unstructured(i + 1, count, expected) }
  }
}

/// Structured tasks wait for the next one, so a chain of them is not as long.
func structured(_ i: Int, _ count: Int, _ expected: [Int]) async {
  if i == count || i % 10 == 0 { check(expected, i) }
  if i == count { return }
  var expected = expected
  expected[key(i)] = i
  let next = expected
  switch i % 4 {
  case 0:
    await withTaskGroup(of: Void.self) { group in
      keys[key(i)].withValue(Value(i)) {
        group.addTask { await structured(i + 1, count, next) }
      }
    }
  case 1:
    await keys[key(i)].withValue(Value(i)) {
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await structured(i + 1, count, next) }
      }
    }
  case 2:
    await keys[key(i)].withValue(Value(i)) {
      async let end: Void = structured(i + 1, count, next)
      await end
    }
  default:
    await keys[key(i)].withValue(Value(i)) {
      await Task { await structured(i + 1, count, next) }.value
    }
  }
}

/// Resumes the main task when a chain has ended.
final class Done: Sendable {
  let continuation = Mutex<CheckedContinuation<Void, Never>?>(nil)
  func wait(_ start: () -> Void) async {
    await withCheckedContinuation { c in
      continuation.withLock { $0 = c }
      start()
    }
  }
  func resume() { continuation.withLock { $0.take()! }.resume() }
}
let done = Done()

@main struct Main {
  static func main() async {
    let none = keys.map { _ in -1 }
    await done.wait { Task { await unstructured(0, 100_000, none) } }
    await structured(0, 400, none)
    while alive.load(ordering: .relaxed) != 0 { await Task.yield() }
    // CHECK: no value is alive
    print("no value is alive")
  }
}
