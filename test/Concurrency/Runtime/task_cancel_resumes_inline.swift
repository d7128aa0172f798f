// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple %import-libdispatch -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out task | %FileCheck %s
// RUN: %target-run %t/a.out nested | %FileCheck %s
// RUN: %target-run %t/a.out again | %FileCheck %s
// RUN: %target-run %t/a.out sleep | %FileCheck %s
// RUN: %target-run %t/a.out cancelAll | %FileCheck %s
// RUN: %target-run %t/a.out group | %FileCheck %s
// RUN: %target-run %t/a.out discarding | %FileCheck %s
// RUN: %target-run %t/a.out inlineGroup | %FileCheck %s
// RUN: %target-run %t/a.out inlineDiscarding | %FileCheck %s
// RUN: %target-run %t/a.out asyncLet | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// XFAIL: without_task-cancel-unlocked

// Cancellation handlers resume their tasks, whose executor runs them at once: on
// the thread that cancels them, amid the cancellation. All records and children
// that are walked over must stay, and each handler must run, once.

import Dispatch
import Synchronization

/// Runs jobs at once, whoever enqueues them.
final class InlineExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
  }
}

/// A task waits here until its cancellation resumes it.
final class Waiter: Sendable {
  private let continuation = Mutex<UnsafeContinuation<Void, Never>?>(nil)
  let handlers = Atomic<Int>(0)

  var isWaiting: Bool { continuation.withLock { $0 != nil } }

  func wait(depth: Int) async -> Int {
    if depth > 0 {
      return await withTaskCancellationHandler {
        await wait(depth: depth - 1) + 1
      } onCancel: {
        handlers.add(1, ordering: .relaxed)
      }
    }
    await withTaskCancellationHandler {
      await withUnsafeContinuation { new in continuation.withLock { $0 = new } }
    } onCancel: {
      handlers.add(1, ordering: .relaxed)
      let old = continuation.withLock { old in
        defer { old = nil }
        return old
      }
      old?.resume()
    }
    // Write over what the task has given back to its allocator.
    return await useStack(20)
  }

  func check(depth: Int) {
    precondition(!isWaiting)
    precondition(handlers.load(ordering: .relaxed) == depth + 1)
  }
}

func useStack(_ n: Int) async -> Int {
  let words = (n, ~0, ~0, ~0, ~0, ~0, ~0, ~0)
  await withUnsafeContinuation { $0.resume() }
  return n == 0 ? 0 : await useStack(n - 1) &+ words.1 &+ 1
}

func becomeWaiting(_ waiters: [Waiter]) async {
  while !waiters.allSatisfy({ $0.isWaiting }) {
    try! await Task.sleep(for: .microseconds(10))
  }
}

let executor = InlineExecutor()

func run(_ mode: String) async {
  let waiters = (0..<8).map { _ in Waiter() }
  let depth = mode == "task" || mode == "again" ? 0 : 3

  @Sendable func addAll(_ group: inout TaskGroup<Int>) {
    for waiter in waiters {
      group.addTask(executorPreference: executor) { await waiter.wait(depth: depth) }
    }
  }
  @Sendable func addAll(_ group: inout DiscardingTaskGroup) {
    for waiter in waiters {
      group.addTask(executorPreference: executor) { _ = await waiter.wait(depth: depth) }
    }
  }
  @Sendable func inGroup() async {
    await withTaskGroup(of: Int.self) { group in
      addAll(&group)
      for await result in group { precondition(result == depth) }
    }
  }
  @Sendable func inDiscardingGroup() async {
    await withDiscardingTaskGroup { addAll(&$0) }
  }

  var cancelled: [Waiter] = waiters
  switch mode {
  case "task", "nested":
    for waiter in waiters {
      let task = Task(executorPreference: executor) { await waiter.wait(depth: depth) }
      await becomeWaiting([waiter])
      task.cancel()
      let result = await task.value
      precondition(result == depth)
    }
  case "again":
    // The task suspends once more, and another thread ends it.
    for waiter in waiters {
      let task = Task(executorPreference: executor) {
        _ = await waiter.wait(depth: depth)
        await withUnsafeContinuation { continuation in
          DispatchQueue.global().async { continuation.resume() }
        }
        _ = await useStack(20)
      }
      await becomeWaiting([waiter])
      task.cancel()
      await task.value
    }
  case "sleep":
    for _ in waiters {
      let task = Task(executorPreference: executor) {
        try? await Task.sleep(for: .seconds(1000))
        return await useStack(20)
      }
      task.cancel()
      _ = await task.value
    }
    return
  case "cancelAll":
    await withTaskGroup(of: Int.self) { group in
      addAll(&group)
      await becomeWaiting(waiters)
      group.cancelAll()
    }
    await withDiscardingTaskGroup { group in
      let more = (0..<8).map { _ in Waiter() }
      for waiter in more {
        group.addTask(executorPreference: executor) { _ = await waiter.wait(depth: depth) }
      }
      await becomeWaiting(more)
      group.cancelAll()
      for waiter in more { waiter.check(depth: depth) }
    }
  case "group", "discarding":
    let task = Task { mode == "group" ? await inGroup() : await inDiscardingGroup() }
    await becomeWaiting(waiters)
    task.cancel()
    await task.value
  case "inlineGroup", "inlineDiscarding":
    let task = Task(executorPreference: executor) {
      mode == "inlineGroup" ? await inGroup() : await inDiscardingGroup()
      return await useStack(20)
    }
    await becomeWaiting(waiters)
    task.cancel()
    _ = await task.value
  case "asyncLet":
    let task = Task(executorPreference: executor) {
      async let one = waiters[0].wait(depth: depth)
      async let other = waiters[1].wait(depth: depth)
      let results = await (one, other)
      precondition(results == (depth, depth))
      return await useStack(20)
    }
    cancelled = Array(waiters[..<2])
    await becomeWaiting(cancelled)
    task.cancel()
    _ = await task.value
  default:
    fatalError("unknown mode")
  }
  for waiter in cancelled { waiter.check(depth: depth) }
}

@main struct Main {
  static func main() async {
    for _ in 0..<200 { await run(CommandLine.arguments[1]) }
    // CHECK: done
    print("done")
  }
}
