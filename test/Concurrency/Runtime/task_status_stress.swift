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

// Tasks add and remove all kinds of status records, suspend and resume, while
// other threads cancel and escalate them and ask for their flags. Each handler
// runs at most once, and only if its task is cancelled, priorities only rise, and
// what was cancelled stays so.

import Dispatch
import Synchronization

final class Victim: Sendable {
  let fired = Atomic<Int>(0)
  let escalated = Atomic<Int>(0)
  let done = Atomic<Bool>(false)
}

final class Executor: TaskExecutor {
  let queue = DispatchQueue(label: "executor")
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

actor Counter {
  var count = 0
  func add() { count += 1 }
}

let executor = Executor()
let counter = Counter()

/// Returns how often the handler of its task had been called.
func work(_ victim: Victim, _ number: Int) async -> Int {
  var priority = Task.currentPriority
  for round in 0..<20 {
    switch (number + round) % 6 {
    case 0:
      await counter.add()
    case 1:
      async let one = counter.add()
      async let other: Void = Task.yield()
      _ = await (one, other)
    case 2:
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<3 { group.addTask { await counter.add() } }
      }
    case 3:
      await withTaskExecutorPreference(executor) { await Task.yield() }
    case 4:
      try? await Task.sleep(nanoseconds: 1000)
    default:
      await withTaskCancellationHandler { await Task.yield() } onCancel: {}
    }
    let now = Task.currentPriority
    if now < priority { fatalError("priority fell from \(priority) to \(now)") }
    priority = now
  }
  let wasCancelled = Task.isCancelled
  let fired = victim.fired.load(ordering: .acquiring)
  if wasCancelled && !Task.isCancelled { fatalError("cancelled no more") }
  return fired
}

@main struct Main {
  static func main() async {
    for number in 0..<600 {
      let victim = Victim()
      let task = Task.detached(priority: .background) {
        await withTaskCancellationHandler {
          await withTaskPriorityEscalationHandler {
            await work(victim, number)
          } onPriorityEscalated: { _, _ in
            victim.escalated.add(1, ordering: .relaxed)
          }
        } onCancel: {
          victim.fired.add(1, ordering: .relaxed)
        }
      }
      let poller = Task.detached {
        var seen = false
        while !victim.done.load(ordering: .relaxed) {
          let isCancelled = task.isCancelled
          if seen && !isCancelled { fatalError("cancelled no more") }
          seen = isCancelled
          await Task.yield()
        }
      }
      let cancels = number % 3 != 0
      let cancellers = (0..<2).map { _ in
        Task.detached {
          for _ in 0..<(number % 40) { await Task.yield() }
          if cancels { task.cancel() }
        }
      }
      let escalators = [TaskPriority.utility, .medium, .high].map { priority in
        Task.detached(priority: priority) {
          for _ in 0..<(number % 30) { await Task.yield() }
          return await task.value
        }
      }
      for canceller in cancellers { await canceller.value }
      for escalator in escalators { _ = await escalator.value }
      victim.done.store(true, ordering: .relaxed)
      await poller.value
      let fired = victim.fired.load(ordering: .relaxed)
      if fired > 1 || (fired == 1 && !cancels) {
        fatalError("the handler ran \(fired) times")
      }
      if task.isCancelled != cancels { fatalError("\(task.isCancelled)") }
      if victim.escalated.load(ordering: .relaxed) > 3 {
        fatalError("escalated too often")
      }
    }
    // CHECK: done
    print("done")
  }
}
