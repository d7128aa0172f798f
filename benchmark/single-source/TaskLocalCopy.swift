//===--- TaskLocalCopy.swift ----------------------------------------------===//
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

// What a new task costs by the number of task-locals that it takes over, and what
// reading and binding cost.
//
// Task:     `Task {}` copies every binding that is visible.
// Group:    a child task copies what is bound inside the body of its group.
// AsyncLet: a child task outside of a group body copies nothing (control).
// Read:     reading what a task has taken over, each key in turn.
// Bind:     withValue itself, below that many others.
//
// Tasks of Task and Group belong to the actor that makes them, so that one
// thread makes, runs and destroys them: waking threads would hide the rest.

import Dispatch
import TestsUtils

public var benchmarks: [BenchmarkInfo] {
  guard #available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *) else {
    return []
  }
  return [
    entry("Task.0", bound: 0, makeTasks(200)),
    entry("Task.1", bound: 1, makeTasks(200)),
    entry("Task.8", bound: 8, makeTasks(100)),
    entry("Task.9", bound: 9, makeTasks(100)),
    entry("Task.64", bound: 64, makeTasks(20)),
    entry("Task.100", bound: 100, makeTasks(20)),
    entry("Task.1000", bound: 1000, makeTasks(4)),
    entry("Group.0", bound: 0, makeGroup(100, boundInBody: 0)),
    entry("Group.1", bound: 0, makeGroup(100, boundInBody: 1)),
    entry("Group.8", bound: 0, makeGroup(100, boundInBody: 8)),
    entry("Group.100", bound: 0, makeGroup(20, boundInBody: 100)),
    entry("AsyncLet.0", bound: 0, makeAsyncLets(50)),
    entry("AsyncLet.100", bound: 100, makeAsyncLets(50)),
    entry("Read.1", bound: 1, read(2000)),
    entry("Read.10", bound: 10, read(2000)),
    entry("Read.100", bound: 100, read(2000)),
    entry("Bind.0", bound: 0, bindAgain(2000)),
    entry("Bind.100", bound: 100, bindAgain(2000)),
  ]
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
@globalActor
private actor BenchmarkActor {
  static let shared = BenchmarkActor()
}

private final class Value: Sendable {
  let number: Int
  init(_ number: Int) { self.number = number }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private enum Locals {
  static let keys = (0..<1000).map { _ in TaskLocal(wrappedValue: Value(0)) }
  static let values = (1...1000).map { Value($0) }

  /// Runs `body` with the first `count` keys bound, key `i` to number `i + 1`.
  @BenchmarkActor
  static func bind(_ count: Int, _ body: () async -> Void) async {
    if count == 0 { return await body() }
    await keys[count - 1].withValue(values[count - 1]) {
      await bind(count - 1, body)
    }
  }

  static func bind(_ count: Int, _ body: () -> Void) {
    if count == 0 { return body() }
    keys[count - 1].withValue(values[count - 1]) { bind(count - 1, body) }
  }

  /// The number bound to the key in the middle of `count` bound ones; else 0.
  static func middle(_ count: Int) -> Int {
    keys[count / 2].get().number
  }

  static func expectedMiddle(_ count: Int) -> Int {
    count == 0 ? 0 : count / 2 + 1
  }
}

/// A task that has task-locals bound, and runs its body once for each request.
@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private final class Session {
  static var current: Session?
  private var requests: AsyncStream<Int>.Continuation!
  private let finished = DispatchSemaphore(value: 0)

  init(bound: Int, _ body: @escaping @BenchmarkActor (Int) async -> Void) {
    let stream = AsyncStream<Int> { requests = $0 }
    let finished = self.finished
    Task.detached { @BenchmarkActor in
      await Locals.bind(bound) {
        for await n in stream {
          for _ in 0..<n { await body(bound) }
          finished.signal()
        }
      }
      finished.signal()
    }
  }

  func run(_ n: Int) {
    requests.yield(n)
    finished.wait()
  }

  func finish() {
    requests.finish()
    finished.wait()
  }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func entry(
  _ name: String, bound: Int,
  _ body: @escaping @BenchmarkActor (Int) async -> Void
) -> BenchmarkInfo {
  BenchmarkInfo(
    name: "TaskLocalCopy." + name,
    runFunction: { n in Session.current!.run(n) },
    tags: [.concurrency],
    setUpFunction: { Session.current = Session(bound: bound, body) },
    tearDownFunction: {
      Session.current!.finish()
      Session.current = nil
    }
  )
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func makeTasks(_ count: Int) -> @BenchmarkActor (Int) async -> Void {
  return { bound in
    var tasks: [Task<Int, Never>] = []
    tasks.reserveCapacity(count)
    for _ in 0..<count {
      tasks.append(Task { @BenchmarkActor in Locals.middle(bound) })
    }
    var sum = 0
    for task in tasks { sum += await task.value }
    check(sum == count * Locals.expectedMiddle(bound))
  }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func makeGroup(
  _ count: Int, boundInBody: Int
) -> @BenchmarkActor (Int) async -> Void {
  return { _ in
    let sum = await withTaskGroup(of: Int.self) { group -> Int in
      Locals.bind(boundInBody) {
        for _ in 0..<count {
          group.addTask { @BenchmarkActor in Locals.middle(boundInBody) }
        }
      }
      return await group.reduce(0, +)
    }
    check(sum == count * Locals.expectedMiddle(boundInBody))
  }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func makeAsyncLets(_ count: Int) -> @BenchmarkActor (Int) async -> Void {
  return { bound in
    var sum = 0
    for _ in 0..<count {
      async let first = Locals.middle(bound)
      async let second = Locals.middle(bound)
      sum += await first + second
    }
    check(sum == 2 * count * Locals.expectedMiddle(bound))
  }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func read(_ count: Int) -> @BenchmarkActor (Int) async -> Void {
  return { bound in
    let sum = await Task { @BenchmarkActor in
      var sum = 0
      for i in 0..<count { sum += Locals.keys[i % bound].get().number }
      return sum
    }.value
    // Key i is bound to i + 1, and `bound` divides `count`.
    check(sum == count / bound * (bound * (bound + 1) / 2))
  }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func bindAgain(_ count: Int) -> @BenchmarkActor (Int) async -> Void {
  return { bound in
    let key = Locals.keys[bound]
    var sum = 0
    for i in 0..<count {
      key.withValue(Locals.values[i % 1000]) { sum += key.get().number }
    }
    check(sum == count / 1000 * 500_500)
  }
}
