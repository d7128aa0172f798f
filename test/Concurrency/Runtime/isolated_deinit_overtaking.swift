// RUN: %target-run-simple-swift( -target %target-future-triple -parse-as-library %import-libdispatch) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// A job of a higher priority that is enqueued on a busy actor runs after at most
// four more jobs of lower priority. Every deinit counts as a job.

import Dispatch
#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif
import Synchronization

@globalActor actor Busy { static let shared = Busy() }

/// The number of deinits and tasks of low priority that were started.
let started = Atomic<Int>(0)
let microseconds = Atomic<UInt32>(0)

@Busy final class Slow {
  nonisolated init() {}
  isolated deinit { work() }
}

@Busy func work() {
  started.add(1, ordering: .relaxed)
  let duration = microseconds.load(ordering: .relaxed)
  if duration > 0 { usleep(duration) }
}

@Busy final class Urgent {
  nonisolated let ran: DispatchSemaphore
  nonisolated init(_ ran: DispatchSemaphore) { self.ran = ran }
  isolated deinit {
    startedBefore.store(started.load(ordering: .relaxed), ordering: .relaxed)
    ran.signal()
  }
}

let startedBefore = Atomic<Int>(0)
let startedWhenEnqueued = Atomic<Int>(0)

/// Run `body` as a task, and wait without raising its priority.
func run(_ priority: TaskPriority, _ body: @escaping @Sendable () -> Void) {
  let done = DispatchSemaphore(value: 0)
  Task.detached(priority: priority) {
    body()
    done.signal()
  }
  done.wait()
}

/// Returns how many jobs of low priority were started after a job of high
/// priority had been enqueued, and before this one.
func overtaken(_ count: Int, duration: UInt32, tasks: Bool, urgentDeinit: Bool) -> Int {
  started.store(0, ordering: .relaxed)
  microseconds.store(duration, ordering: .relaxed)
  let entered = DispatchSemaphore(value: 0), go = DispatchSemaphore(value: 0)
  Task.detached(priority: .background) { @Busy in
    entered.signal()
    go.wait()
  }
  entered.wait()
  run(.background) {
    for i in 0..<count {
      if tasks && i % 2 == 0 {
        Task.detached(priority: .background) { @Busy in work() }
      } else {
        _ = Slow()
      }
    }
  }
  go.signal()
  while started.load(ordering: .relaxed) < 3 { usleep(10) }

  let ran = DispatchSemaphore(value: 0)
  run(.high) {
    if urgentDeinit {
      _ = Urgent(ran)
    } else {
      Task.detached(priority: .high) { @Busy in
        startedBefore.store(started.load(ordering: .relaxed), ordering: .relaxed)
        ran.signal()
      }
    }
    startedWhenEnqueued.store(started.load(ordering: .relaxed), ordering: .relaxed)
  }
  ran.wait()
  let last = DispatchSemaphore(value: 0)
  Task.detached(priority: .background) { @Busy in last.signal() }
  last.wait()
  return startedBefore.load(ordering: .relaxed) -
      startedWhenEnqueued.load(ordering: .relaxed)
}

@main struct Main {
  static func main() {
    for round in 0..<10 {
      for tasks in [false, true] {
        for urgentDeinit in [false, true] {
          let slow = overtaken(50, duration: 1000, tasks: tasks, urgentDeinit: urgentDeinit)
          let fast = overtaken(5000, duration: 0, tasks: tasks, urgentDeinit: urgentDeinit)
          if slow > 4 || fast > 4 {
            print("TOO LATE: round \(round) tasks \(tasks) deinit \(urgentDeinit)",
                  "after \(slow) slow and \(fast) fast jobs")
          }
        }
      }
    }
    print("done")
  }
}

// CHECK-NOT: TOO LATE
// CHECK: done
