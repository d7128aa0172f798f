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

// A task waits for its executor, or another thread resumes it, while it is
// cancelled and escalated. All its records are still there: each handler runs
// once, children are cancelled, and nobody writes to what the task has given back.

import Dispatch
import Synchronization

func rest(microseconds: Int) {
  _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .microseconds(microseconds))
}

/// Runs jobs on a queue of Dispatch, or keeps them for a while.
final class Executor: TaskExecutor {
  private let kept = Mutex<[UnownedJob]?>(nil)
  private let queue = DispatchQueue(label: "executor", attributes: .concurrent)

  var hasKept: Bool { kept.withLock { $0 != nil && !$0!.isEmpty } }
  func keep() { kept.withLock { $0 = [] } }

  func letGo() {
    let jobs = kept.withLock { kept in
      defer { kept = nil }
      return kept!
    }
    for job in jobs { run(job) }
  }

  private func run(_ job: UnownedJob) {
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isKept = kept.withLock { kept in
      kept?.append(job)
      return kept != nil
    }
    if !isKept { run(job) }
  }
}

let executor = Executor()

final class Victim: Sendable {
  private let continuation = Mutex<UnsafeContinuation<Void, Never>?>(nil)
  let cancelled = Atomic<Int>(0)
  let escalated = Atomic<Int>(0)
  let isLast = Atomic<Bool>(false)
  private let hasYielded = Atomic<Bool>(false)
  let done = DispatchSemaphore(value: 0)

  func wait() async {
    await withUnsafeContinuation { new in continuation.withLock { $0 = new } }
  }

  var isWaiting: Bool { continuation.withLock { $0 != nil } }

  func resume() {
    // Others may resume it, too.
    while true {
      if let own = continuation.withLock({ $0.take() }) { return own.resume() }
      rest(microseconds: 10)
    }
  }

  /// The last handler of the task that runs if it is cancelled.
  let onCancel: @Sendable (Victim) -> Void
  init(onCancel: @escaping @Sendable (Victim) -> Void = { _ in }) {
    self.onCancel = onCancel
  }

  func withRecords(_ body: @Sendable () async -> Void) async {
    await withTaskCancellationHandler {
      await withTaskPriorityEscalationHandler {
        await withTaskGroup(of: Bool.self) { group in
          let child = Victim()
          group.addTask {
            await withTaskCancellationHandler { await child.wait() } onCancel: {
              self.cancelled.add(1, ordering: .relaxed)
            }
            return Task.isCancelled
          }
          while !child.isWaiting { await Task.yield() }
          async let one = useStack(2) {
            await Task.yield()
            self.hasYielded.store(true, ordering: .relaxed)
          }
          // The job that the executor keeps later is not to be that of the yield.
          while !self.hasYielded.load(ordering: .relaxed) { await Task.yield() }
          await withTaskCancellationHandler(operation: body) {
            self.cancelled.add(1, ordering: .relaxed)
          }
          child.resume()
          let isCancelled = await group.next()!
          if isCancelled != Task.isCancelled { fatalError("child: \(isCancelled)") }
          if await !one { fatalError("async let") }
        }
      } onPriorityEscalated: { _, _ in
        self.escalated.add(1, ordering: .relaxed)
      }
    } onCancel: {
      self.cancelled.add(1, ordering: .relaxed)
      self.onCancel(self)
    }
    done.signal()
  }
}

let ones = Atomic<Int>(~0)
@inline(never) func word() -> Int { ones.load(ordering: .relaxed) }

/// Writes over what the task has given back to its allocator. False if that does
/// not stay as it is until `body` has run.
func useStack(_ n: Int, _ body: @Sendable () async -> Void) async -> Bool {
  let words = (word(), word(), word(), word(), word(), word(), word(), word())
  var isKept = true
  if n == 0 { await body() } else { isKept = await useStack(n - 1, body) }
  let first = words.0 & words.1 & words.2 & words.3
  return isKept && first & words.4 & words.5 & words.6 & words.7 == ~0
}

func check(_ victim: Victim, cancelled: Int, escalated: Int) {
  let handlers = victim.cancelled.load(ordering: .relaxed)
  if handlers != cancelled { fatalError("\(handlers) cancellation handlers") }
  let escalations = victim.escalated.load(ordering: .relaxed)
  if escalations != escalated { fatalError("\(escalations) escalation handlers") }
}

/// The task is enqueued.
func enqueued(_ round: Int) {
  let victim = Victim()
  let name = round % 2 == 0 ? "name" : nil
  let task = Task(name: name, executorPreference: executor, priority: .low) {
    await victim.withRecords {
      while !victim.isLast.load(ordering: .relaxed) { await victim.wait() }
      if await !useStack(10, { await Task.yield() }) { fatalError("overwritten") }
    }
  }
  while !victim.isWaiting { rest(microseconds: 10) }
  executor.keep()
  // If it was not suspended yet, it goes on at once, and waits again.
  repeat {
    victim.resume()
    while !executor.hasKept && !victim.isWaiting { rest(microseconds: 10) }
  } while !executor.hasKept
  victim.isLast.store(true, ordering: .relaxed)
  task.cancel()
  task.escalatePriority(to: .high)
  check(victim, cancelled: 3, escalated: 1)
  executor.letGo()
  victim.done.wait()
  check(victim, cancelled: 3, escalated: 1)
}

/// Another thread resumes the task while its handler runs.
func amid(_ round: Int) {
  let hasResumed = DispatchSemaphore(value: 0)
  let victim = Victim { victim in
    DispatchQueue.global().async {
      victim.resume()
      hasResumed.signal()
    }
    // It has to wait for the records, so this takes all of the time. If it did
    // not, then the task would use them for other things now.
    _ = hasResumed.wait(timeout: .now() + .milliseconds(2))
    rest(microseconds: 2000)
  }
  let task = Task.detached {
    await victim.withRecords {
      await victim.wait()
      if await !useStack(10, { await victim.wait() }) { fatalError("overwritten") }
    }
  }
  while !victim.isWaiting { rest(microseconds: 10) }
  task.cancel()
  victim.resume()
  victim.done.wait()
  check(victim, cancelled: 3, escalated: 0)
}

@main struct Main {
  static func main() {
    for round in 0..<200 { enqueued(round) }
    // CHECK: enqueued
    print("enqueued")
    for round in 0..<100 { amid(round) }
    // CHECK: amid
    print("amid")
  }
}
