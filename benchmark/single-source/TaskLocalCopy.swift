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
// Those hit what an earlier task has left behind. The following bind something for
// each task, below that many others:
//
// Fresh:       a key that is not bound outside, then `Task {}`.
// Rebind:      the outermost one of the others, then `Task {}`.
// GroupFresh:  as Fresh, in the body of a group, then a child.
// GroupRebind: as Rebind, in the body of a group, then a child.
// Chain:       that many tasks, each of which binds a key and makes the next one;
//              the last one reads them all.
// Children:    20 or 60 other keys in the body of each of 20 groups, below 100, then
//              1, 2 or 8 children: a task may only once pay for what others could
//              share. Those that end in 900 are below 900. With 9 children, the
//              first one that shares is the last.
// Many:        5, 12, 16 or 64 keys for each task, as Fresh; Many.8x100 is 8 tasks under
//              100 keys, which are then unbound: as many as copy before a map is made.
//              Of those of Many.9x20 the last one gets a map.
// GroupBody:   64 or 100 keys in the body of a group, then 20 children with a key of
//              their own each.
// Siblings:    100 keys, then one or eight tasks that make one or eight tasks each.
// Span3/10:    an ID, then one key 3 or 10 times, then `Task {}`: tracing.
// Request:     64 requests at once, each of which binds an ID and rebinds one span
//              three times, asks an actor, runs a group of four, makes a task for its
//              log, and drops a session with an isolated deinit.
//
// Tasks of Task and Group belong to the actor that makes them, so that one
// thread makes, runs and destroys them: waking threads would hide the rest.

import Dispatch
import TestsUtils

public var benchmarks: [BenchmarkInfo] {
  guard #available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *) else {
    return []
  }
  return copies + rebindings + requests
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private var copies: [BenchmarkInfo] {
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
private var rebindings: [BenchmarkInfo] {
  var rows: [BenchmarkInfo] = []
  for bound in [0, 1, 8, 100] {
    let count = bound == 100 ? 20 : 100
    rows.append(entry("Fresh.\(bound)", bound: bound, bindAndMakeTasks(count)))
    rows.append(entry("GroupFresh.\(bound)", bound: bound, bindInGroup(count)))
    rows.append(entry("Span3.\(bound)", bound: bound, makeSpans(count, 3)))
    rows.append(entry("Span10.\(bound)", bound: bound, makeSpans(count, 10)))
    if bound == 0 { continue }
    rows.append(
      entry("Rebind.\(bound)", bound: bound, bindAndMakeTasks(count, key: 0)))
    rows.append(
      entry("GroupRebind.\(bound)", bound: bound, bindInGroup(count, key: 0)))
  }
  for (name, children, keys, bound) in [
    ("1x20", 1, 20, 100), ("2x20", 2, 20, 100), ("8x20", 8, 20, 100),
    ("1x60", 1, 60, 100), ("4x20.900", 4, 20, 900), ("9x20.900", 9, 20, 900),
    ("1x70.900", 1, 70, 900),
  ] {
    rows.append(
      entry("Children.\(name)", bound: bound,
        bindManyInGroup(20, children: children, keys: keys)))
  }
  for (keys, tasks) in [(5, 1), (12, 1), (16, 1), (64, 1), (100, 8), (20, 9)] {
    let name = tasks == 1 ? "Many.\(keys)" : "Many.\(tasks)x\(keys)"
    rows.append(
      entry(name, bound: 0, bindManyAndMakeTasks(20, tasks: tasks, keys: keys)))
  }
  for keys in [64, 100] {
    rows.append(entry("GroupBody.\(keys)", bound: 0, bindInGroupBody(20, keys: keys)))
  }
  for (tasks, each) in [(1, 8), (8, 1), (8, 8)] {
    rows.append(
      entry("Siblings.\(tasks)x\(each)", bound: 0,
        makeSiblings(4, tasks: tasks, each: each, keys: 100)))
  }
  for length in [1, 8, 100] {
    rows.append(entry("Chain.\(length)", bound: 0, makeChains(100 / length, length)))
  }
  return rows
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private var requests: [BenchmarkInfo] {
  guard #available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, *) else {
    return []
  }
  return [0, 1, 8, 100].map { bound in
    entry("Request.\(bound)", bound: bound, Server.serve(64))
  }
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

/// The key that only one of the following binds, behind all others.
private let freshKey = 999

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func bindAndMakeTasks(
  _ count: Int, key index: Int = freshKey
) -> @BenchmarkActor (Int) async -> Void {
  return { bound in
    let key = Locals.keys[index]
    var tasks: [Task<Int, Never>] = []
    tasks.reserveCapacity(count)
    for i in 0..<count {
      key.withValue(Locals.values[i]) {
        tasks.append(Task { @BenchmarkActor in key.get().number })
      }
    }
    var sum = 0
    for task in tasks { sum += await task.value }
    check(sum == count * (count + 1) / 2)
  }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func bindInGroup(
  _ count: Int, key index: Int = freshKey
) -> @BenchmarkActor (Int) async -> Void {
  return { _ in
    let key = Locals.keys[index]
    let sum = await withTaskGroup(of: Int.self) { group -> Int in
      for i in 0..<count {
        key.withValue(Locals.values[i]) {
          group.addTask { @BenchmarkActor in key.get().number }
        }
      }
      return await group.reduce(0, +)
    }
    check(sum == count * (count + 1) / 2)
  }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func bind(_ keys: ArraySlice<TaskLocal<Value>>, _ body: () -> Void) {
  guard let key = keys.first else { return body() }
  key.withValue(Locals.values[keys.startIndex]) { bind(keys.dropFirst(), body) }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func bindManyAndMakeTasks(
  _ count: Int, tasks tasksInScope: Int, keys: Int
) -> @BenchmarkActor (Int) async -> Void {
  return { _ in
    let first = 800
    var tasks: [Task<Int, Never>] = []
    tasks.reserveCapacity(count * tasksInScope)
    for _ in 0..<count {
      bind(Locals.keys[first..<first + keys]) {
        for _ in 0..<tasksInScope {
          tasks.append(Task { @BenchmarkActor in Locals.keys[first].get().number })
        }
      }
    }
    var sum = 0
    for task in tasks { sum += await task.value }
    check(sum == count * tasksInScope * (first + 1))
  }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func makeSiblings(
  _ count: Int, tasks tasksInScope: Int, each: Int, keys: Int
) -> @BenchmarkActor (Int) async -> Void {
  return { _ in
    let first = 800
    var sum = 0
    for _ in 0..<count {
      var tasks: [Task<Int, Never>] = []
      bind(Locals.keys[first..<first + keys]) {
        for _ in 0..<tasksInScope {
          tasks.append(Task { @BenchmarkActor in
            var inner: [Task<Int, Never>] = []
            for _ in 0..<each {
              inner.append(Task { @BenchmarkActor in Locals.keys[first].get().number })
            }
            var sum = 0
            for task in inner { sum += await task.value }
            return sum
          })
        }
      }
      for task in tasks { sum += await task.value }
    }
    check(sum == count * tasksInScope * each * (first + 1))
  }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func bindInGroupBody(
  _ children: Int, keys: Int
) -> @BenchmarkActor (Int) async -> Void {
  return { _ in
    let first = 800
    let key = Locals.keys[freshKey]
    let sum = await withTaskGroup(of: Int.self) { group -> Int in
      bind(Locals.keys[first..<first + keys]) {
        for i in 0..<children {
          key.withValue(Locals.values[i]) {
            group.addTask { @BenchmarkActor in
              key.get().number + Locals.keys[first].get().number
            }
          }
        }
      }
      return await group.reduce(0, +)
    }
    check(sum == children * (children + 1) / 2 + children * (first + 1))
  }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func bindManyInGroup(
  _ count: Int, children: Int, keys: Int
) -> @BenchmarkActor (Int) async -> Void {
  return { _ in
    let first = 900
    var sum = 0
    for _ in 0..<count {
      sum += await withTaskGroup(of: Int.self) { group -> Int in
        bind(Locals.keys[first..<first + keys]) {
          for _ in 0..<children {
            group.addTask { @BenchmarkActor in Locals.keys[first].get().number }
          }
        }
        return await group.reduce(0, +)
      }
    }
    check(sum == count * children * (first + 1))
  }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func makeSpans(
  _ count: Int, _ depth: Int
) -> @BenchmarkActor (Int) async -> Void {
  return { _ in
    let id = Locals.keys[freshKey], span = Locals.keys[freshKey - 1]
    func nest(_ depth: Int, _ body: () -> Void) {
      if depth == 0 { return body() }
      span.withValue(Locals.values[depth]) { nest(depth - 1, body) }
    }
    var tasks: [Task<Int, Never>] = []
    tasks.reserveCapacity(count)
    for i in 0..<count {
      id.withValue(Locals.values[i]) {
        nest(depth) {
          tasks.append(
            Task { @BenchmarkActor in id.get().number + span.get().number })
        }
      }
    }
    var sum = 0
    for task in tasks { sum += await task.value }
    check(sum == count * (count + 1) / 2 + 2 * count)
  }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func makeChains(
  _ count: Int, _ length: Int
) -> @BenchmarkActor (Int) async -> Void {
  @BenchmarkActor func link(_ i: Int) async -> Int {
    if i == length {
      return Locals.keys[..<length].reduce(0) { $0 + $1.get().number }
    }
    return await Locals.keys[i].withValue(Locals.values[i]) {
      await Task { @BenchmarkActor in await link(i + 1) }.value
    }
  }
  return { _ in
    var sum = 0
    for _ in 0..<count { sum += await link(0) }
    check(sum == count * length * (length + 1) / 2)
  }
}

@available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, *)
@globalActor
private actor Server {
  static let shared = Server()

  private static let id = TaskLocal(wrappedValue: Value(0))
  private static let span = TaskLocal(wrappedValue: Value(0))
  @BenchmarkActor private static var logged = 0
  private var ended = 0

  /// What a request belongs to, which ends on the server.
  @Server private final class Session {
    let id: Int
    nonisolated init(_ id: Int) { self.id = id }
    isolated deinit { Server.shared.assumeIsolated { $0.ended += 1 } }
  }

  private func look(_ i: Int) -> Int {
    Server.id.get().number + Server.span.get().number + i
  }

  @BenchmarkActor
  private static func traced<R>(
    _ number: Int, _ body: @BenchmarkActor () async -> R
  ) async -> R {
    await span.withValue(Locals.values[number]) { await body() }
  }

  @BenchmarkActor
  private static func handle(_ i: Int) async -> Int {
    await id.withValue(Locals.values[i]) {
      await traced(1) {
        _ = Session(i)
        let found = await traced(2) { await shared.look(i) }
        let parts = await traced(3) {
          await withTaskGroup(of: Int.self) { group in
            for part in 0..<4 {
              group.addTask { @BenchmarkActor in part + span.get().number }
            }
            return await group.reduce(0, +)
          }
        }
        Task { @BenchmarkActor in logged += id.get().number }
        return found + parts
      }
    }
  }

  private func waitForEnd(_ count: Int) async {
    while ended < count { await Task.yield() }
    ended = 0
  }

  static func serve(_ count: Int) -> @BenchmarkActor (Int) async -> Void {
    return { _ in
      let sum = await withTaskGroup(of: Int.self) { group in
        for i in 0..<count { group.addTask { @BenchmarkActor in await handle(i) } }
        return await group.reduce(0, +)
      }
      while logged < count * (count + 1) / 2 { await Task.yield() }
      await shared.waitForEnd(count)
      check(logged == count * (count + 1) / 2)
      logged = 0
      // i + 1 and 3 from look, 0 to 3 and 4 times 4 from the group.
      check(sum == count * (count - 1) + count * (1 + 3 + 6 + 16))
    }
  }
}
