// RUN: %target-run-simple-swift( -target %target-future-triple -parse-as-library %import-libdispatch) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// Tasks on one actor: those of equal priority run in the order in which they
// were enqueued, those of higher priority run first, whether the actor is busy
// when they are enqueued or not, and those that suspend do not lose their place.

import Dispatch
#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

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

extension Worker {
  func append(_ number: Int) { log.append(number) }

  /// Enqueue while a task of the lowest priority blocks the actor.
  nonisolated func enqueueWhileBlocked(_ numbers: [Int], priority: (Int) -> TaskPriority) {
    let entered = DispatchSemaphore(value: 0), go = DispatchSemaphore(value: 0)
    Task.detached(priority: .background) {
      await self.block(entered, until: go)
    }
    entered.wait()
    for number in numbers {
      // This thread enqueues it, so the order is certain.
      Task.detached(priority: priority(number)) { @Worker in await self.append(number) }
    }
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
    usleep(100_000)
    run(.background) {
      let log = await worker.take()
      let expected = numbers.sorted { ($0 * 7 % 4, $0) < ($1 * 7 % 4, $1) }
      // CHECK: mixed: true
      print("mixed:", log == expected)
    }
    worker.enqueueWhileBlocked(numbers) { _ in .low }
    usleep(100_000)
    run(.background) {
      // CHECK: equal: true
      print("equal:", await worker.take() == numbers)
    }
  }
}
