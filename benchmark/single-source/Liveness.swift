//===--- Liveness.swift ---------------------------------------------------===//
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

// What it costs a job that the runtime can tell which thread is stuck in it. The
// jobs here are the steps of a task that goes from one actor to another. Their
// executors only keep the job, so that all is done by one thread.
//
// JobOverhead: the monitor is off, as it is by default. benchmark/liveness measures
//              it while it is on.

import TestsUtils

public var benchmarks: [BenchmarkInfo] {
  guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, *) else { return [] }
  let steps = Steps()
  return [
    BenchmarkInfo(
      name: "Liveness.JobOverhead", runFunction: { steps.run(1000 * $0) },
      tags: [.concurrency])
  ]
}

/// The jobs of one task, which wait for `run`.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, *)
private final class Steps: @unchecked Sendable {
  private let start = Start()
  private let one = Place(), other = Place()

  /// Keeps the job of a task that begins.
  private final class Start: TaskExecutor, @unchecked Sendable {
    var job: UnownedJob?
    func enqueue(_ job: consuming ExecutorJob) { self.job = UnownedJob(job) }
  }

  private actor Place {
    final class Executor: SerialExecutor, @unchecked Sendable {
      var job: UnownedJob?
      func enqueue(_ job: consuming ExecutorJob) { self.job = UnownedJob(job) }
    }
    nonisolated let executor = Executor()
    nonisolated var unownedExecutor: UnownedSerialExecutor {
      executor.asUnownedSerialExecutor()
    }
    private var visits = 0

    // What could be seen through would leave the actor out.
    @inline(never)
    func visit() { visits &+= 1 }

    nonisolated func runJob() {
      executor.job!.runSynchronously(on: executor.asUnownedSerialExecutor())
    }
  }

  init() {
    Task(executorPreference: start) { [one, other] in
      while true {
        await one.visit()
        await other.visit()
      }
    }
    start.job!.runSynchronously(on: start.asUnownedTaskExecutor())
  }

  /// Runs `count` jobs, an even number.
  @inline(never)
  func run(_ count: Int) {
    for _ in 0..<count / 2 {
      one.runJob()
      other.runJob()
    }
  }
}
