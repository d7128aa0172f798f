// RUN: %target-run-simple-swift( -target %target-future-triple -parse-as-library %import-libdispatch) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// Isolated deinits and tasks which one thread enqueues on an actor run in the
// order in which they were enqueued, when their priorities are equal.

import Dispatch

@globalActor actor First { static let shared = First() }
@globalActor actor Second { static let shared = Second() }

@First var firstLog: [Int] = []
@Second var secondLog: [Int] = []

@First final class OnFirst {
  nonisolated let number: Int
  nonisolated init(_ number: Int) { self.number = number }
  isolated deinit { firstLog.append(number) }
}

@First final class AlsoOnFirst {
  nonisolated let number: Int
  nonisolated init(_ number: Int) { self.number = number }
  isolated deinit { firstLog.append(number) }
}

@Second final class OnSecond {
  nonisolated let number: Int
  nonisolated init(_ number: Int) { self.number = number }
  isolated deinit { secondLog.append(number) }
}

extension First {
  /// Keep the actor busy, so that everything after this is queued.
  nonisolated func block(_ entered: DispatchSemaphore, until go: DispatchSemaphore) {
    Task.detached(priority: .medium) { @First in
      entered.signal()
      go.wait()
    }
    entered.wait()
  }
}

/// What is enqueued as number `i`. Long runs of deinits, single ones, and runs
/// that end where a job of the runtime may be full.
func kind(_ i: Int, _ round: Int) -> Int {
  switch round {
  case 0: return 0
  case 1: return i % 2 == 0 ? 0 : 2
  case 2: return i % 300 == 299 ? 2 : 0
  case 3: return [0, 1, 3, 0, 0, 2, 1, 1][i % 8]
  case 4: return i % 2 == 0 ? 0 : 3
  default: return [0, 0, 1, 2][(i &* 7919 >> 3) & 3]
  }
}

func test(_ round: Int, blocked: Bool) async {
  let count = 4000
  let entered = DispatchSemaphore(value: 0), go = DispatchSemaphore(value: 0)
  if blocked { First.shared.block(entered, until: go) }
  for i in 0..<count {
    switch kind(i, round) {
    case 0: _ = OnFirst(i)
    case 1: _ = AlsoOnFirst(i)
    case 2: Task.detached(priority: .medium) { @First in firstLog.append(i) }
    default: _ = OnSecond(i)
    }
  }
  if blocked { go.signal() }
  let onFirst = (0..<count).filter { kind($0, round) != 3 }
  let onSecond = (0..<count).filter { kind($0, round) == 3 }
  // These tasks are the last ones on both actors.
  let first = await Task.detached(priority: .medium) { @First in
    defer { firstLog = [] }
    return firstLog
  }.value
  let second = await Task.detached(priority: .medium) { @Second in
    defer { secondLog = [] }
    return secondLog
  }.value
  print("round \(round) blocked \(blocked):",
        first == onFirst && second == onSecond ? "in order" : "OUT OF ORDER")
}

/// Run `body` as a task, and wait without raising its priority.
func run(_ priority: TaskPriority, _ body: @escaping @Sendable () async -> Void) {
  let done = DispatchSemaphore(value: 0)
  Task.detached(priority: priority) {
    await body()
    done.signal()
  }
  done.wait()
}

@main struct Main {
  static func main() {
    for round in 0..<6 {
      run(.medium) { await test(round, blocked: false) }
      run(.medium) { await test(round, blocked: true) }
    }
    print("done")
  }
}

// CHECK-NOT: OUT OF ORDER
// CHECK: done
