//===--- IsolatedDeinitCopy.swift -----------------------------------------===//
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

// Isolated deinits which see the task-locals of the last release, by the number
// of task-locals.
//
// Copy:      each object hops to its actor, with copies of the task-locals.
// CopyNoHop: the objects go away on their actor, and nothing is copied.
//
// The compiler does not ask for copies, so the runtime is called as the compiler
// would call it. Where the runtime ignores the flag there are no entries:
// they would show what it costs to clear task-locals.

import Dispatch
import TestsUtils

public var benchmarks: [BenchmarkInfo] {
  guard #available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, *),
        runtimeCopies() else {
    return []
  }
  return [
    entry("Copy.0", bound: 0, hop(1000)),
    entry("Copy.1", bound: 1, hop(1000)),
    entry("Copy.8", bound: 8, hop(500)),
    entry("Copy.100", bound: 100, hop(100)),
    entry("CopyNoHop.0", bound: 0, noHop(1000)),
    entry("CopyNoHop.100", bound: 100, noHop(1000)),
  ]
}

@available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, *)
private func entry(
  _ name: String, bound: Int, _ run: @escaping (Int) -> Void
) -> BenchmarkInfo {
  BenchmarkInfo(
    name: "IsolatedDeinit." + name,
    runFunction: { n in Locals.bind(bound) { run(n) } },
    tags: [.concurrency])
}

@available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, *)
@_silgen_name("swift_task_deinitOnExecutor")
private func deinitOnExecutor(
  _ object: UnsafeMutableRawPointer,
  _ work: @convention(c) (UnsafeMutableRawPointer) -> Void,
  _ executor: UnownedSerialExecutor, _ flags: Int)

/// TaskDeinitFlags::CopyTaskLocals of the runtime.
private let copyTaskLocals = 1

/// An object with an isolated deinit: `drop` is its last release.
@available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, *)
private final class Object: @unchecked Sendable {
  static let executor = BenchmarkActor.shared.unownedExecutor
  static let destroyed = Count()

  @inline(never)
  static func drop(_ object: Unmanaged<Object>) {
    deinitOnExecutor(object.toOpaque(), { object in
      Object.destroyed.add()
      Unmanaged<Object>.fromOpaque(object).release()
    }, executor, copyTaskLocals)
  }

  @inline(never)
  static func make(_ count: Int) -> [Unmanaged<Object>] {
    (0..<count).map { _ in Unmanaged.passRetained(Object()) }
  }
}

@available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, *)
private func hop(_ count: Int) -> (Int) -> Void {
  return { n in
    for _ in 0..<n {
      Object.destroyed.expect(count)
      Object.make(count).forEach(Object.drop)
      Object.destroyed.wait()
    }
  }
}

@available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, *)
private func noHop(_ count: Int) -> (Int) -> Void {
  return { n in
    // Copies what is bound here into the task.
    let finished = DispatchSemaphore(value: 0)
    Task { @BenchmarkActor in
      for _ in 0..<n {
        Object.make(count).forEach(Object.drop)
        Object.destroyed.checkAndReset(count)
      }
      finished.signal()
    }
    finished.wait()
  }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
@globalActor
private actor BenchmarkActor {
  static let shared = BenchmarkActor()
}

private final class Value: Sendable {}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private enum Locals {
  static let keys = (0..<100).map { _ in TaskLocal<Value?>(wrappedValue: nil) }
  static let value = Value()

  /// Runs `body` with the first `count` keys bound.
  static func bind(_ count: Int, _ body: () -> Void) {
    if count == 0 { return body() }
    keys[count - 1].withValue(value) { bind(count - 1, body) }
  }
}

/// Counts deinits. Only one actor, or one thread, adds to it.
private final class Count: @unchecked Sendable {
  private var found = 0
  private var expected = -1
  private let complete = DispatchSemaphore(value: 0)

  /// To be called before the first deinit.
  func expect(_ count: Int) { expected = count }

  func add() {
    found += 1
    if found == expected {
      found = 0
      expected = -1
      complete.signal()
    }
  }

  /// Returns when the expected number of deinits has run.
  func wait() { complete.wait() }

  func checkAndReset(_ count: Int) {
    check(found == count)
    found = 0
  }
}

/// Keeps one job, which `run` runs on the calling thread.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
private final class ManualExecutor: SerialExecutor, @unchecked Sendable {
  private var job: UnownedJob?

  func enqueue(_ job: consuming ExecutorJob) { self.job = UnownedJob(job) }
  func run() { job!.runSynchronously(on: asUnownedSerialExecutor()) }
}

private var probeFound = false

/// Whether a deinit sees a task-local whose binding has ended since its release.
@available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, *)
private func runtimeCopies() -> Bool {
  let executor = ManualExecutor()
  Locals.bind(1) {
    let object = Unmanaged.passUnretained(executor).toOpaque()
    deinitOnExecutor(
      object, { _ in probeFound = Locals.keys[0].get() != nil },
      executor.asUnownedSerialExecutor(), copyTaskLocals)
  }
  executor.run()
  return probeFound
}
