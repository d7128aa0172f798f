// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple %import-libdispatch -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// All but the deprecated sleep were woken by a task of the default priority.
// XFAIL: without_sleep-priority

// A task that sleeps wakes beside threads that compute with a lower priority, and the deprecated
// sleep beside those with any other priority. So do tasks on executors of the program.

import Dispatch
import Glibc
import Synchronization

let clock = ContinuousClock()
let isAwake = Atomic<Bool>(false)
let isLate = Atomic<Bool>(false)

/// Computes on all threads of a priority until the sleeper is awake.
func compute(_ priority: TaskPriority) -> [Task<Void, Never>] {
  let end = clock.now + .seconds(4)
  return (0..<max(64, 2 * sysconf(Int32(_SC_NPROCESSORS_ONLN)))).map { _ in
    Task.detached(priority: priority) {
      while !isAwake.load(ordering: .relaxed) {
        if clock.now > end { return isLate.store(true, ordering: .relaxed) }
      }
    }
  }
}

final class OnQueue: SerialExecutor, TaskExecutor {
  let queue = DispatchQueue(label: "executor", qos: .userInteractive)
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(isolatedTo: self.asUnownedSerialExecutor(),
                                       taskExecutor: self.asUnownedTaskExecutor()) }
  }
}

func check(
  _ name: String, _ priority: TaskPriority, beside other: TaskPriority,
  on executor: (any TaskExecutor)? = nil, _ sleep: @escaping @Sendable () async throws -> Void
) {
  isAwake.store(false, ordering: .relaxed)
  isLate.store(false, ordering: .relaxed)
  let finished = DispatchSemaphore(value: 0)
  Task.detached(executorPreference: executor, priority: priority) {
    try? await sleep()
    isAwake.store(true, ordering: .relaxed)
    finished.signal()
  }
  // Let it begin.
  usleep(30_000)
  let computing = compute(other)
  finished.wait()
  Task.detached {
    for task in computing { await task.value }
    finished.signal()
  }
  finished.wait()
  let result = isLate.load(ordering: .relaxed) ? "late" : "in time"
  print("\(name), \(priority.rawValue) beside \(other.rawValue): \(result)")
}

@available(*, deprecated) func sleepDeprecated() async { await Task.sleep(100_000_000) }
protocol Caller { func call() async }
struct CallsDeprecated: Caller {
  @available(*, deprecated) func call() async { await sleepDeprecated() }
}
let deprecated: any Caller & Sendable = CallsDeprecated()

let kinds: [(String, @Sendable () async throws -> Void)] = [
  ("deprecated", { await deprecated.call() }),
  ("nanoseconds", { try await Task.sleep(nanoseconds: 100_000_000) }),
  ("for", { try await Task.sleep(for: .milliseconds(100)) }),
  ("until", { try await Task.sleep(until: clock.now + .milliseconds(100), clock: clock) }),
  ("suspending", { try await Task.sleep(for: .milliseconds(100), clock: .suspending) }),
  ("tolerance", { try await Task.sleep(for: .milliseconds(100), tolerance: .milliseconds(1)) }),
]

@main struct Main {
  static func main() {
    // CHECK-NOT: late
    for (name, sleep) in kinds {
      check(name, .high, beside: .medium, sleep)
      check(name, TaskPriority(rawValue: 33), beside: .medium, sleep)
      check(name, .medium, beside: .background, sleep)
      check(name, .high, beside: .medium, on: OnQueue(), sleep)
      // It is woken by a thread of the default priority.
      if name != "deprecated" {
        check(name, .background, beside: .background, on: OnQueue(), sleep)
      }
    }
    for (priority, other) in [(TaskPriority.background, TaskPriority.medium), (.low, .medium),
                              (.background, .low), (.medium, .high)] {
      check("deprecated", priority, beside: other) { await deprecated.call() }
    }
    // CHECK: done
    print("done")
  }
}
