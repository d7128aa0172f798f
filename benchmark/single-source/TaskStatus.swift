//===--- TaskStatus.swift -------------------------------------------------===//
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

// What it costs to read the status of a task, and to change it.
//
// IsCancelled: one thread or two ask whether the same task is cancelled.
// Priority:    a task asks for its own priority.
// AsyncLet:    a child task, which does little else than change its status.
// Handler:     withTaskCancellationHandler.
// Cancel:      a task is cancelled that has a handler.

import Dispatch
import TestsUtils

public var benchmarks: [BenchmarkInfo] {
  guard #available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *) else {
    return []
  }
  return [
    poll("IsCancelled.1", threads: 1),
    poll("IsCancelled.2", threads: 2),
    entry("Priority", 2000) { blackHole(Task.currentPriority) },
    entry("AsyncLet", 100) {
      async let one = getOne()
      check(await one == 1)
    },
    entry("Handler", 1000) {
      await withTaskCancellationHandler { blackHole(0) } onCancel: {}
    },
    entry("Cancel", 50) {
      let task = Task { @BenchmarkActor in
        await withTaskCancellationHandler {
          while !Task.isCancelled { await Task.yield() }
        } onCancel: {}
      }
      await Task.yield()
      task.cancel()
      await task.value
    },
  ]
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
@globalActor
private actor BenchmarkActor {
  static let shared = BenchmarkActor()
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
    name: "TaskStatus." + name,
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
    name: "TaskStatus." + name,
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
