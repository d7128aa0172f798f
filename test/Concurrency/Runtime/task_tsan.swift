// RUN: %empty-directory(%t)
// RUN: %target-build-swift -target %target-future-triple -swift-version 5 -parse-as-library -sanitize=thread %import-libdispatch %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out > %t/log 2>&1
// RUN: %FileCheck %s < %t/log
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out > %t/log-without 2>&1
// RUN: %FileCheck %s < %t/log-without

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// REQUIRES: tsan_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// UNSUPPORTED: asan
// REQUIRES: OS=linux-gnu

// What a debug build of the runtime does orders the accesses now and then, so the race is not always seen.
// UNSUPPORTED: runtime_before-debug
// A task that finds its continuation resumed is not ordered behind the thread that resumed it.
// XFAIL: without_continuation-tsan

// A program with -sanitize=thread runs on a runtime without: what the runtime orders is no race.

import Dispatch
import Glibc
import Synchronization

/// What all change without a lock of its own.
final class Shared: @unchecked Sendable { var n = 0 }

actor Owner {
  private let shared: Shared
  private var calls = 0
  init(_ shared: Shared) { self.shared = shared }
  func call() {
    calls += 1
    shared.n += 1
  }
  isolated deinit { shared.n += calls }
}

enum Locals {
  @TaskLocal static var shared = Shared()
  @TaskLocal static var number = 0
}

/// A report stands behind the name of its row.
func row(_ name: String, _ body: () async -> Void) async {
  fputs("row \(name)\n", stderr)
  for _ in 0..<20 { await body() }
}

@main struct Main {
  static func main() async {
    await row("a handler while its task computes") {
      let shared = Shared()
      let task = Task.detached {
        await withTaskCancellationHandler {
          while !Task.isCancelled { usleep(100) }
          // cancel() returns meanwhile.
          usleep(5000)
        } onCancel: { shared.n += 1 }
        precondition(shared.n == 1)
      }
      usleep(2000)
      task.cancel()
      await task.value
    }
    await row("a handler at the end of its scope") {
      let shared = Shared()
      let task = Task.detached {
        await withTaskCancellationHandler { _ = usleep(100) } onCancel: { shared.n += 1 }
        _ = shared.n
      }
      usleep(100)
      task.cancel()
      await task.value
    }
    await row("an escalation handler") {
      let shared = Shared()
      let task = Task.detached(priority: .low) {
        await withTaskPriorityEscalationHandler { _ = usleep(5000) } onPriorityEscalated: { _, _ in
          shared.n += 1
        }
        shared.n += 1
      }
      usleep(1000)
      await Task.detached(priority: .high) { await task.value }.value
    }
    await row("handlers of a group") {
      let all = (0..<10).map { _ in Shared() }
      await withTaskGroup(of: Void.self) { group in
        for shared in all {
          group.addTask {
            await withTaskCancellationHandler {
              try? await Task.sleep(nanoseconds: 1_000_000_000)
            } onCancel: { shared.n += 1 }
            shared.n += 1
          }
        }
        usleep(500)
        group.cancelAll()
      }
      for shared in all { shared.n += 1 }
    }
    await row("results of a group") {
      await withTaskGroup(of: Shared.self) { group in
        for number in 0..<10 {
          group.addTask {
            let shared = Shared()
            shared.n = number
            usleep(50)
            return shared
          }
        }
        for await shared in group { shared.n += 1 }
      }
    }
    await row("a discarding group") {
      let all = (0..<10).map { _ in Shared() }
      await withDiscardingTaskGroup { group in
        for shared in all { group.addTask { shared.n += 1 } }
      }
      for shared in all { shared.n += 1 }
    }
    await row("async let") {
      let shared = Shared()
      async let change: Void = { shared.n += 1 }()
      await change
      shared.n += 1
      async let late = {
        usleep(100)
        return Shared()
      }()
      await late.n += 1
    }
    await row("an actor and its isolated deinit") {
      let shared = Shared()
      do {
        let owner = Owner(shared)
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<10 { group.addTask { await owner.call() } }
        }
        await owner.call()
      }
    }
    await row("the main actor") {
      let shared = Shared()
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<8 { group.addTask { await MainActor.run { shared.n += 1 } } }
      }
      shared.n += 1
    }
    await row("a stream") {
      let (stream, continuation) = AsyncStream.makeStream(of: Shared.self)
      let task = Task.detached {
        for number in 0..<50 {
          let shared = Shared()
          shared.n = 1
          continuation.yield(shared)
          if number % 2 == 0 { await Task.yield() }
        }
        continuation.finish()
      }
      for await shared in stream { shared.n += 1 }
      await task.value
    }
    await row("continuations") {
      let shared = Shared()
      await withCheckedContinuation { (own: CheckedContinuation<Void, Never>) in
        DispatchQueue.global().async {
          shared.n += 1
          own.resume()
        }
      }
      shared.n += 1
      await withUnsafeContinuation { (own: UnsafeContinuation<Void, Never>) in
        Task.detached {
          shared.n += 1
          own.resume()
        }
        // So that the task finds itself resumed.
        usleep(500)
      }
      shared.n += 1
    }
    await row("blocks") {
      let shared = Shared(), group = DispatchGroup(), queue = DispatchQueue(label: "own")
      for _ in 0..<10 {
        DispatchQueue.global().async(group: group) { queue.sync { shared.n += 1 } }
      }
      await withCheckedContinuation { own in
        group.notify(queue: .global()) {
          shared.n += 1
          own.resume()
        }
      }
      shared.n += 1
    }
    for depth in [1, 20] {
      await row("task-local values, \(depth) deep") {
        let shared = Shared()
        @Sendable func bind(_ left: Int) async {
          if left > 0 {
            return await Locals.$shared.withValue(shared) {
              await Locals.$number.withValue(left) { await bind(left - 1) }
            }
          }
          await withTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
              group.addTask { Locals.$number.withValue(number) { _ = Locals.shared.n } }
            }
          }
          for task in (0..<4).map({ _ in Task { _ = Locals.shared.n } }) { await task.value }
        }
        await bind(depth)
        shared.n += 1
      }
    }
    await row("sleepers") {
      let shared = Shared()
      let short = Task.detached {
        try? await Task.sleep(nanoseconds: 100_000)
        shared.n += 1
      }
      await short.value
      shared.n += 1
      let long = Task.detached {
        try? await Task.sleep(nanoseconds: 100_000_000_000)
        shared.n += 1
      }
      usleep(200)
      long.cancel()
      await long.value
      shared.n += 1
    }
    await row("a Mutex") {
      let shared = Shared(), mutex = Mutex(())
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<8 {
          group.addTask {
            for _ in 0..<100 { mutex.withLock { _ in shared.n += 1 } }
          }
        }
      }
      shared.n += 1
    }
    // CHECK-NOT: WARNING: ThreadSanitizer
    // CHECK: all rows ended
    fputs("all rows ended\n", stderr)
  }
}
