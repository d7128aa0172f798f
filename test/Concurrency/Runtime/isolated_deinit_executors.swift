// RUN: %target-run-simple-swift( -target %target-future-triple -parse-as-library %import-libdispatch) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// Isolated deinits on executors that are not default actors: the main actor and
// custom serial executors. Each deinit is a job of its own there, and the order
// of the executor's queue is kept.

import Dispatch
import Synchronization

final class QueueExecutor: SerialExecutor {
  let queue = DispatchQueue(label: "executor")
  let jobs = Atomic<Int>(0)

  func enqueue(_ job: consuming ExecutorJob) {
    jobs.add(1, ordering: .relaxed)
    let job = UnownedJob(job)
    let executor = asUnownedSerialExecutor()
    queue.async { job.runSynchronously(on: executor) }
  }
  func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}

/// Runs jobs late, one after the other, on the thread that asks for it.
final class LateExecutor: SerialExecutor {
  let jobs = Mutex<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }
  func run() -> Int {
    let all = jobs.withLock { jobs in
      defer { jobs = [] }
      return jobs
    }
    for job in all { job.runSynchronously(on: asUnownedSerialExecutor()) }
    return all.count
  }
}

@globalActor actor Queued {
  static let executor = QueueExecutor()
  static let shared = Queued()
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    Queued.executor.asUnownedSerialExecutor()
  }
}

@globalActor actor Late {
  static let executor = LateExecutor()
  static let shared = Late()
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    Late.executor.asUnownedSerialExecutor()
  }
}

@MainActor var mainLog: [Int] = []
@Queued var queuedLog: [Int] = []
@Late var lateLog: [Int] = []

@MainActor final class OnMain {
  nonisolated let number: Int
  nonisolated init(_ number: Int) { self.number = number }
  isolated deinit { mainLog.append(number) }
}

@Queued final class OnQueued {
  nonisolated let number: Int
  nonisolated init(_ number: Int) { self.number = number }
  isolated deinit { queuedLog.append(number) }
}

@Late final class OnLate {
  nonisolated let number: Int
  nonisolated init(_ number: Int) { self.number = number }
  isolated deinit { lateLog.append(number) }
}

let all = Array(0..<1000)

@main struct Main {
  static func main() async {
    await Task.detached {
      for i in all {
        if i % 7 == 0 {
          DispatchQueue.main.async { MainActor.assumeIsolated { mainLog.append(i) } }
        } else {
          _ = OnMain(i)
        }
        if i % 7 == 1 {
          Queued.executor.queue.async { Queued.shared.assumeIsolated { _ in appendQueued(i) } }
        } else {
          _ = OnQueued(i)
        }
        _ = OnLate(i)
      }
    }.value
    // CHECK: main: true
    await Task { @MainActor in print("main:", mainLog == all) }.value
    // CHECK: queued: true
    await Task { @Queued in print("queued:", queuedLog == all) }.value
    // CHECK: own jobs: true
    print("own jobs:", Queued.executor.jobs.load(ordering: .relaxed) >= all.count * 6 / 7)
    // CHECK: late: 1000
    print("late:", Late.executor.run())
    let printed = Task { @Late in print("late log:", lateLog == all) }
    // CHECK: late log: true
    while Late.executor.run() == 0 {}
    await printed.value
  }
}

func appendQueued(_ number: Int) {
  // Isolated: only called on the queue of the executor.
  nonisolated(unsafe) let append: @Queued (Int) -> Void = { queuedLog.append($0) }
  unsafeBitCast(append, to: ((Int) -> Void).self)(number)
}
