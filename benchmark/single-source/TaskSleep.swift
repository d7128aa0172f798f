//===--- TaskSleep.swift --------------------------------------------------===//
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

// What it costs to sleep.
//
// Cancel:  sleeps that are cancelled long before their deadlines, as timeouts are.
// Standing: the same below 10,000 other sleepers.
// Short:   one short sleep after the other.
// Many:    sleeps of about the same deadline.
// Zero:    sleeps of no time.
// High:    a short sleep with a high priority beside threads of the default one that compute for
//          a millisecond at a time, by each of the two ways of before.
// Tolerance: one short sleep after the other, with a tolerance of a second and nobody to join.
// Join:    sleeps within 100 us, with tolerances that let them end together.
// Inline:  sleeps of the same deadline on an executor that runs each task at once, for 50 us.

import Dispatch
import TestsUtils

public var benchmarks: [BenchmarkInfo] {
  guard #available(macOS 13.0, iOS 16.0, tvOS 16.0, watchOS 9.0, *) else {
    return []
  }
  return [
    entry("Cancel", 1) { await cancelSleeps(100) {
      try await Task.sleep(nanoseconds: 1_000_000_000_000) } },
    entry("Cancel.Tolerance", 1) { await cancelSleeps(100) {
      try await Task.sleep(for: .seconds(1000), tolerance: .seconds(1)) } },
    entry("Cancel.Standing", 1, setUp: startSleepers, tearDown: endSleepers) {
      await cancelSleeps(100) { try await Task.sleep(for: .seconds(1000)) } },
    entry("Short.100us", 4) { try? await Task.sleep(nanoseconds: 100_000) },
    entry("Many.100", 1) { await sleepAtOnce(100) },
    entry("Zero", 100) { try? await Task.sleep(nanoseconds: 0) },
    entry("High", 1, priority: .high, setUp: startComputing, tearDown: endComputing) {
      try? await Task.sleep(nanoseconds: 100_000) },
    entry("High.Deprecated", 1, priority: .high, setUp: startComputing, tearDown: endComputing) {
      await deprecated.sleep(100_000) },
    entry("Tolerance.100us", 4) {
      try? await Task.sleep(for: .microseconds(100), tolerance: .seconds(1)) },
    entry("Join.100", 1) { await sleepAtOnce(100, tolerance: .microseconds(100)) },
    entry("Inline.8", 1) { await sleepInline(8) },
  ]
}

private protocol Sleeps: Sendable { func sleep(_ nanoseconds: UInt64) async }
private struct Deprecated: Sleeps {
  @available(*, deprecated)
  func sleep(_ nanoseconds: UInt64) async { await Task.sleep(nanoseconds) }
}
private let deprecated: any Sleeps = Deprecated()

@available(macOS 13.0, iOS 16.0, tvOS 16.0, watchOS 9.0, *)
private func cancelSleeps(
  _ count: Int, _ sleep: @escaping @Sendable () async throws -> Void
) async {
  await withTaskGroup(of: Void.self) { group in
    for _ in 0..<count { group.addTask { try? await sleep() } }
    // Let them begin.
    for _ in 0..<count { await Task.yield() }
    group.cancelAll()
  }
}

@available(macOS 13.0, iOS 16.0, tvOS 16.0, watchOS 9.0, *)
private func sleepAtOnce(_ count: Int, tolerance: Duration? = nil) async {
  let start = ContinuousClock.now + .microseconds(300)
  await withTaskGroup(of: Void.self) { group in
    for number in 0..<count {
      group.addTask {
        try? await Task.sleep(
          until: start + .microseconds(number), tolerance: tolerance, clock: .continuous)
      }
    }
  }
}

@available(macOS 13.0, iOS 16.0, tvOS 16.0, watchOS 9.0, *)
private func compute(_ duration: Duration) {
  let end = ContinuousClock.now + duration
  while ContinuousClock.now < end {}
}

private var computing: [Task<Void, Never>] = []

@available(macOS 13.0, iOS 16.0, tvOS 16.0, watchOS 9.0, *)
private func startComputing() {
  computing = (0..<16).map { _ in
    Task.detached(priority: .medium) {
      while !Task.isCancelled {
        compute(.milliseconds(1))
        await Task.yield()
      }
    }
  }
}

private func endComputing() {
  for task in computing { task.cancel() }
  computing = []
}

@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, *)
private final class InlineExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
  }
}

@available(macOS 13.0, iOS 16.0, tvOS 16.0, watchOS 9.0, *)
private func sleepInline(_ count: Int) async {
  guard #available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, *) else { return }
  let executor = InlineExecutor()
  let deadline = ContinuousClock.now + .microseconds(200)
  await withTaskGroup(of: Void.self) { group in
    for _ in 0..<count {
      group.addTask(executorPreference: executor) {
        try? await Task.sleep(until: deadline, clock: .continuous)
        compute(.microseconds(50))
      }
    }
  }
}

private var sleepers: [Task<Void, Never>] = []

@available(macOS 13.0, iOS 16.0, tvOS 16.0, watchOS 9.0, *)
private func startSleepers() {
  sleepers = (0..<10_000).map { number in
    Task.detached { try? await Task.sleep(for: .seconds(500 + number)) }
  }
}

@available(macOS 13.0, iOS 16.0, tvOS 16.0, watchOS 9.0, *)
private func endSleepers() {
  for sleeper in sleepers { sleeper.cancel() }
  sleepers = []
}

@available(macOS 13.0, iOS 16.0, tvOS 16.0, watchOS 9.0, *)
private func entry(
  _ name: String, _ rounds: Int, priority: TaskPriority? = nil,
  setUp: (() -> Void)? = nil, tearDown: (() -> Void)? = nil,
  _ body: @escaping @Sendable () async -> Void
) -> BenchmarkInfo {
  BenchmarkInfo(
    name: "Sleep." + name,
    runFunction: { n in
      let finished = DispatchSemaphore(value: 0)
      Task.detached(priority: priority) {
        for _ in 0..<(n * rounds) { await body() }
        finished.signal()
      }
      finished.wait()
    },
    tags: [.concurrency],
    setUpFunction: setUp,
    tearDownFunction: tearDown)
}
