//===--- TaskOperations.swift ---------------------------------------------===//
//
// This source file is part of the Swift.org open source project
//
// Copyright (c) 2026 Apple Inc. and the Swift project authors
// Licensed under Apache License v2.0 with Runtime Library Exception
//
// See https://swift.org/LICENSE.txt for license information
// See https://swift.org/CONTRIBUTORS.txt for the list of Swift project authors
//
//===----------------------------------------------------------------------===//

// What the operations on groups and on the status of tasks cost. One thread does
// all of it, except in IsCancelled.2: waking threads would hide the rest.
//
// TaskGroup: children by the order in which they end, and by the kind of group.
// TaskStatus:
//   IsCancelled: one thread or two ask whether the same task is cancelled.
//   Priority:    a task asks for its own priority.
//   AsyncLet:    a child task, which does little else than change its status.
//   AsyncLet.2:  two of them at a time.
//   Handler:     withTaskCancellationHandler.
//   Cancel:      a task is cancelled that has a handler.
//   CancelHandlers: a suspended task is cancelled that has so many handlers.
//   CancelGroup: a task is cancelled whose group has so many children.
// TaskEnqueue, on an executor that runs jobs on the thread of the benchmark:
//   New:         tasks are made, and run.
//   Yield:       a running task is enqueued.
//   Resume:      a suspended task is enqueued.

import Dispatch
import TestsUtils

public var benchmarks: [BenchmarkInfo] {
  guard #available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *) else {
    return []
  }
  return [
    entry("TaskGroup.InOrder.10", 50) { await endChildren(10, inOrder) },
    entry("TaskGroup.InOrder.500", 1) { await endChildren(500, inOrder) },
    entry("TaskGroup.Reverse.500", 1) { await endChildren(500, reverse) },
    entry("TaskGroup.Random.500", 1) { await endChildren(500, random) },
    entry("TaskGroup.CancelAll.500", 1) { await cancelChildren(500) },
    entry("TaskGroup.Discarding.500", 1) { await discardChildren(500) },
    poll("TaskStatus.IsCancelled.1", threads: 1),
    poll("TaskStatus.IsCancelled.2", threads: 2),
    entry("TaskStatus.Priority", 2000) { blackHole(Task.currentPriority) },
    entry("TaskStatus.AsyncLet", 100) {
      async let one = getOne()
      check(await one == 1)
    },
    entry("TaskStatus.AsyncLet.2", 50) {
      async let one = getOne()
      async let other = getOne()
      check(await one + other == 2)
    },
    entry("TaskStatus.Handler", 1000) {
      await withTaskCancellationHandler { blackHole(0) } onCancel: {}
    },
    entry("TaskStatus.Cancel", 50) {
      let task = Task { @BenchmarkActor in
        await withTaskCancellationHandler {
          while !Task.isCancelled { await Task.yield() }
        } onCancel: {}
      }
      await Task.yield()
      task.cancel()
      await task.value
    },
    entry("TaskStatus.CancelHandlers.0", 50) { await cancelHandlers(0) },
    entry("TaskStatus.CancelHandlers.1", 50) { await cancelHandlers(1) },
    entry("TaskStatus.CancelHandlers.8", 50) { await cancelHandlers(8) },
    entry("TaskStatus.CancelGroup.1000", 1) { await cancelGroup(1000) },
  ] + enqueues
}

private var enqueues: [BenchmarkInfo] {
  guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, *) else { return [] }
  return [
    entry("TaskEnqueue.New.500", 1) {
      for _ in 0..<500 { Task(executorPreference: LocalExecutor.shared) {} }
      LocalExecutor.shared.runAll()
    },
    entry("TaskEnqueue.Yield", 1) {
      Task(executorPreference: LocalExecutor.shared) {
        for _ in 0..<1000 { await Task.yield() }
      }
      LocalExecutor.shared.runAll()
    },
    entry("TaskEnqueue.Resume", 1) {
      let gate = Gate()
      Task(executorPreference: LocalExecutor.shared) {
        for _ in 0..<1000 {
          await withUnsafeContinuation { gate.continuation = $0 }
        }
        gate.continuation = nil
      }
      LocalExecutor.shared.runAll()
      while let continuation = gate.continuation {
        continuation.resume()
        LocalExecutor.shared.runAll()
      }
    },
  ]
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, *)
private final class LocalExecutor: TaskExecutor, @unchecked Sendable {
  static let shared = LocalExecutor()
  private var jobs: [UnownedJob] = []
  private var next = 0

  func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job)) }

  func runAll() {
    while next < jobs.count {
      next += 1
      jobs[next - 1].runSynchronously(on: asUnownedTaskExecutor())
    }
    jobs.removeAll(keepingCapacity: true)
    next = 0
  }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
@globalActor
private actor BenchmarkActor {
  static let shared = BenchmarkActor()
}

private final class Gate: @unchecked Sendable {
  var continuation: UnsafeContinuation<Void, Never>?
  var called = 0
}

private func inOrder(_ count: Int) -> [Int] { Array(0..<count) }
private func reverse(_ count: Int) -> [Int] { (0..<count).reversed() }
private func random(_ count: Int) -> [Int] {
  // A full period: each number once, far from the one before.
  (0..<count).map { ($0 * 311) % count }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
@BenchmarkActor private var started = 0

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
@BenchmarkActor
private func endChildren(_ count: Int, _ order: (Int) -> [Int]) async {
  let gates = (0..<count).map { _ in Gate() }
  started = 0
  let sum = await withTaskGroup(of: Int.self) { @BenchmarkActor group in
    for (number, gate) in gates.enumerated() {
      group.addTask { @BenchmarkActor in
        await withUnsafeContinuation {
          gate.continuation = $0
          started += 1
        }
        return number
      }
    }
    while started < count { await Task.yield() }
    for number in order(count) { gates[number].continuation!.resume() }
    var sum = 0
    while let number = await group.next() { sum += number }
    return sum
  }
  check(sum == count * (count - 1) / 2)
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
@BenchmarkActor
private func cancelChildren(_ count: Int) async {
  let cancelled = await withTaskGroup(of: Bool.self) { @BenchmarkActor group in
    for _ in 0..<count {
      group.addTask { @BenchmarkActor in Task.isCancelled }
    }
    group.cancelAll()
    var cancelled = 0
    while let isCancelled = await group.next() {
      cancelled += isCancelled ? 1 : 0
    }
    return cancelled
  }
  check(cancelled == count)
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
@BenchmarkActor
private func cancelGroup(_ count: Int) async {
  let task = Task { @BenchmarkActor in
    await withTaskGroup(of: Bool.self) { @BenchmarkActor group in
      for _ in 0..<count {
        group.addTask { @BenchmarkActor in Task.isCancelled }
      }
      withUnsafeCurrentTask { $0!.cancel() }
      var cancelled = 0
      while let isCancelled = await group.next() {
        cancelled += isCancelled ? 1 : 0
      }
      return cancelled
    }
  }
  check(await task.value == count)
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
@BenchmarkActor
private func cancelHandlers(_ count: Int) async {
  let gate = Gate()
  let task = Task { @BenchmarkActor in await suspend(count, gate) }
  while gate.continuation == nil { await Task.yield() }
  task.cancel()
  check(gate.called == count)
  gate.continuation!.resume()
  await task.value
}

/// Wait at the gate in `count` scopes with handlers.
@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
@BenchmarkActor
private func suspend(_ count: Int, _ gate: Gate) async {
  guard count > 0 else {
    return await withUnsafeContinuation { gate.continuation = $0 }
  }
  await withTaskCancellationHandler {
    await suspend(count - 1, gate)
  } onCancel: {
    gate.called += 1
  }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
@BenchmarkActor
private func discardChildren(_ count: Int) async {
  guard #available(macOS 14.0, iOS 17.0, tvOS 17.0, watchOS 10.0, *) else {
    return
  }
  started = 0
  await withDiscardingTaskGroup { @BenchmarkActor group in
    for _ in 0..<count {
      group.addTask { @BenchmarkActor in started += 1 }
    }
  }
  check(started == count)
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
@Sendable private func getOne() async -> Int { 1 }

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private let asked = Task.detached {
  try? await Task.sleep(nanoseconds: 1_000_000_000_000_000)
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func poll(_ name: String, threads: Int) -> BenchmarkInfo {
  BenchmarkInfo(
    name: name,
    runFunction: { n in
      let task = asked
      DispatchQueue.concurrentPerform(iterations: threads) { _ in
        for _ in 0..<(n * 10_000) { check(!task.isCancelled) }
      }
    },
    tags: [.concurrency])
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func entry(
  _ name: String, _ rounds: Int,
  _ body: @escaping @BenchmarkActor @Sendable () async -> Void
) -> BenchmarkInfo {
  BenchmarkInfo(
    name: name,
    runFunction: { n in
      let finished = DispatchSemaphore(value: 0)
      Task.detached { @BenchmarkActor in
        for _ in 0..<(n * rounds) { await body() }
        finished.signal()
      }
      finished.wait()
    },
    tags: [.concurrency])
}
