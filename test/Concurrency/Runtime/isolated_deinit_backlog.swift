// RUN: %target-run-simple-swift( -target %target-future-triple -parse-as-library %import-libdispatch) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// It compares times.
// UNSUPPORTED: asan, tsan
// XFAIL: without_isolated-deinit-shared-jobs

// A job of a high priority starts soon on an actor for which 100,000 isolated deinits wait
// that came in while it was busy. The actor sorts its jobs first, but the deinits share a
// few: with a job each it takes a third of the time with 100,000 tasks.

import Dispatch

@globalActor actor Busy { static let shared = Busy() }

let count = 100_000
nonisolated(unsafe) var left = 0
nonisolated(unsafe) var leftWhenUrgent = 0
nonisolated(unsafe) var started = DispatchTime.now()
nonisolated(unsafe) var urgent = DispatchTime.now()

@Busy final class Object {
  nonisolated init() {}
  isolated deinit { left -= 1 }
}

@Busy final class Urgent {
  nonisolated init() {}
  isolated deinit {
    urgent = .now()
    leftWhenUrgent = left
  }
}

/// Run `body` as a task, and wait without raising its priority.
func run(_ priority: TaskPriority, _ body: @escaping @Sendable () -> Void) {
  let done = DispatchSemaphore(value: 0)
  Task.detached(priority: priority) {
    body()
    done.signal()
  }
  done.wait()
}

/// The time from when the actor is free until the urgent job starts, in ns: the best of 5.
func measure(_ enqueue: @escaping @Sendable () -> Void) -> UInt64 {
  (0..<5).map { _ in measureOnce(enqueue) }.min()!
}

func measureOnce(_ enqueue: @escaping @Sendable () -> Void) -> UInt64 {
  left = count
  let entered = DispatchSemaphore(value: 0), go = DispatchSemaphore(value: 0)
  Task.detached(priority: .background) { @Busy in
    entered.signal()
    go.wait()
    started = .now()
  }
  entered.wait()
  run(.background) { for _ in 0..<count { enqueue() } }
  run(.high) { _ = Urgent() }
  go.signal()
  let last = DispatchSemaphore(value: 0)
  Task.detached(priority: .background) { @Busy in last.signal() }
  last.wait()
  precondition(leftWhenUrgent == count && left == 0)
  return urgent.uptimeNanoseconds - started.uptimeNanoseconds
}

@main struct Main {
  static func main() {
    let deinits = measure { _ = Object() }
    let tasks = measure { Task.detached(priority: .background) { @Busy in left -= 1 } }
    print(20 * deinits <= tasks ? "soon" : "\(deinits) ns behind deinits, \(tasks) ns behind tasks")
  }
}

// CHECK: soon
