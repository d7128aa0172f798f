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
// JobOverhead:    the monitor is off, as it is by default.
// JobOverhead.On: it is on. Where the runtime has none there is no such row.

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif
import TestsUtils

public var benchmarks: [BenchmarkInfo] {
  guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, *) else { return [] }
  let steps = Steps()
  var entries = [
    BenchmarkInfo(
      name: "Liveness.JobOverhead", runFunction: { steps.run(1000 * $0) },
      tags: [.concurrency])
  ]
  if let monitor = Monitor.find() {
    entries.append(
      BenchmarkInfo(
        name: "Liveness.JobOverhead.On", runFunction: { steps.run(1000 * $0) },
        tags: [.concurrency], setUpFunction: { precondition(monitor.start(nil)) },
        tearDownFunction: monitor.stop))
  }
  return entries
}

/// The monitor of the runtime that is loaded, if it has one.
private struct Monitor {
  let start: @convention(c) (_ settings: UnsafeRawPointer?) -> Bool
  let stop: @convention(c) () -> Void

  static func find() -> Monitor? {
#if canImport(Darwin)
    let anywhere = UnsafeMutableRawPointer(bitPattern: -2)  // RTLD_DEFAULT
#else
    let anywhere: UnsafeMutableRawPointer? = nil
#endif
    typealias Load = @convention(c) () -> UnsafeRawPointer?
    // swift_liveness_functions: its size, start, stop.
    guard let load = dlsym(anywhere, "swift_liveness_load"),
      let functions = unsafeBitCast(load, to: Load.self)()
    else { return nil }
    let word = MemoryLayout<UnsafeRawPointer>.size
    return Monitor(
      start: functions.load(
        fromByteOffset: word, as: (@convention(c) (UnsafeRawPointer?) -> Bool).self),
      stop: functions.load(fromByteOffset: 2 * word, as: (@convention(c) () -> Void).self))
  }
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
