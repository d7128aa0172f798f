// RUN: %target-run-simple-swift( -target %target-future-triple -parse-as-library %import-libdispatch) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// Tasks on one actor: those of equal priority run in the order in which they
// were enqueued, whether the actor is busy then or not. Of those that wait while
// it is busy, the ones of higher priority run first.

import Dispatch

let priorities: [TaskPriority] = [.high, .medium, .low, .background]

@globalActor actor Worker {
  static let shared = Worker()
  var log: [Int] = []

  func take() -> [Int] {
    defer { log = [] }
    return log
  }
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

/// Tasks that have not run yet.
let left = DispatchGroup()

extension Worker {
  func append(_ number: Int) {
    log.append(number)
    left.leave()
  }

  nonisolated func enqueue(_ numbers: [Int], priority: (Int) -> TaskPriority) {
    for number in numbers {
      left.enter()
      // This thread enqueues it, so the order is certain.
      Task.detached(priority: priority(number)) { @Worker in await self.append(number) }
    }
  }

  /// Enqueue while a task of the lowest priority blocks the actor.
  nonisolated func enqueueWhileBlocked(_ numbers: [Int], priority: (Int) -> TaskPriority) {
    let entered = DispatchSemaphore(value: 0), go = DispatchSemaphore(value: 0)
    Task.detached(priority: .background) {
      await self.block(entered, until: go)
    }
    entered.wait()
    enqueue(numbers, priority: priority)
    go.signal()
  }

  func block(_ entered: DispatchSemaphore, until go: DispatchSemaphore) {
    entered.signal()
    go.wait()
  }
}

@main struct Main {
  static func main() {
    let worker = Worker.shared
    let numbers = Array(0..<60)
    worker.enqueueWhileBlocked(numbers) { priorities[$0 * 7 % 4] }
    left.wait()
    run(.background) {
      let log = await worker.take()
      let expected = numbers.sorted { ($0 * 7 % 4, $0) < ($1 * 7 % 4, $1) }
      // CHECK: mixed: true
      print("mixed:", log == expected)
    }
    worker.enqueueWhileBlocked(numbers) { _ in .low }
    left.wait()
    run(.background) {
      // CHECK: equal: true
      print("equal:", await worker.take() == numbers)
    }
    // The actor begins, and may end, while they are enqueued.
    let many = Array(0..<20_000)
    worker.enqueue(many) { _ in .low }
    left.wait()
    run(.background) {
      // CHECK: idle: true
      print("idle:", await worker.take() == many)
    }
  }
}
