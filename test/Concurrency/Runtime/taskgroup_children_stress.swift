// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple %import-libdispatch -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// Children of all kinds of groups come and go in any order, while groups are
// cancelled and tasks escalated. Each child runs and ends exactly once, and is
// seen by those who cancel its group.

import Dispatch
import Synchronization

struct Failure: Error {}

let ended = Atomic<Int>(0)

func yieldSome(_ number: Int) async {
  for _ in 0..<(number * 7 % 5) { await Task.yield() }
}

func child(_ number: Int) async -> Int {
  await yieldSome(number)
  ended.add(1, ordering: .relaxed)
  return number
}

func check(_ expected: Int, _ what: String) {
  let got = ended.exchange(0, ordering: .relaxed)
  if got != expected { fatalError("\(what): \(got) ended, not \(expected)") }
}

/// next() between additions.
func accumulating(_ count: Int) async {
  let sum = await withTaskGroup(of: Int.self) { group in
    var sum = 0
    for number in 0..<count {
      group.addTask { await child(number) }
      if number % 3 == 2, let result = await group.next() { sum += result }
    }
    for await result in group { sum += result }
    return sum
  }
  if sum != count * (count - 1) / 2 { fatalError("sum \(sum)") }
  check(count, "accumulating")
}

func discarding(_ count: Int) async {
  await withDiscardingTaskGroup { group in
    for number in 0..<count { group.addTask { _ = await child(number) } }
  }
  check(count, "discarding")
}

/// The last child fails, and so does one in the middle if `early`.
func discardingThrowing(_ count: Int, early: Bool) async {
  do {
    try await withThrowingDiscardingTaskGroup { group in
      for number in 0..<count {
        group.addTask {
          _ = await child(number)
          if number == count - 1 || (early && number == count / 2) {
            throw Failure()
          }
        }
      }
    }
    if count != 0 { fatalError("did not throw") }
  } catch {}
  check(count, "discarding and throwing")
}

func throwing(_ count: Int) async {
  do {
    try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<count {
        group.addTask {
          if await child(number) == count / 2 { throw Failure() }
          return number
        }
      }
      while try await group.next() != nil {}
    }
    if count != 0 { fatalError("did not throw") }
  } catch {}
  check(count, "throwing")
}

/// All children wait to be cancelled; some end by themselves meanwhile.
func cancelled(_ count: Int) async {
  await withTaskGroup(of: Void.self) { group in
    for number in 0..<count {
      group.addTask {
        if number % 3 != 0 {
          while !Task.isCancelled { await Task.yield() }
        }
        _ = await child(number)
      }
    }
    await Task.yield()
    group.cancelAll()
    await group.waitForAll()
  }
  check(count, "cancelled")
}

func nested(_ depth: Int) async {
  await withTaskGroup(of: Void.self) { group in
    for number in 0..<4 {
      group.addTask {
        if depth > 0 { await nested(depth - 1) }
        await yieldSome(number)
      }
    }
  }
}

/// A task with more priority waits for one whose children come and go.
func escalated(_ count: Int) async {
  let task = Task.detached(priority: .background) { await discarding(count) }
  await Task.detached(priority: .high) { await task.value }.value
}

@main struct Main {
  static func main() async {
    for round in 0..<20 {
      for count in [0, 1, 2, 3, 100, 500] {
        await accumulating(count)
        await discarding(count)
        await discardingThrowing(count, early: false)
        await discardingThrowing(count, early: true)
        await throwing(count)
        await cancelled(count)
        await escalated(count)
      }
      await nested(round % 4)
    }
    // CHECK: done
    print("done")
  }
}
