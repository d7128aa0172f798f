//===--- AsyncDeinit.swift ------------------------------------------------===//
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

// TaskInDeinit: what is written without asynchronous deinits. A plain deinit makes
//               a task, which captures the state of the object. In a tree each
//               node releases its children in its deinit.
//
// benchmark/deinit measures asynchronous deinits themselves.

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif
import Dispatch
import TestsUtils

public var benchmarks: [BenchmarkInfo] {
  guard #available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, *) else {
    return []
  }
  return [
    entry("TaskInDeinit.Array.500", run(500, TaskNode.array)),
    entry("TaskInDeinit.Tree.500", run(500, TaskNode.tree)),
  ]
}

@available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, *)
private func entry(
  _ name: String, bound: Int = 0, _ run: @escaping (Int) -> Void
) -> BenchmarkInfo {
  BenchmarkInfo(
    name: "AsyncDeinit." + name,
    runFunction: { n in Locals.bind(bound) { run(n) } },
    tags: [.concurrency])
}

/// Make and drop objects with `drop`, and wait for the last deinit.
@available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, *)
private func run(_ count: Int, _ drop: @escaping (Int) -> Void) -> (Int) -> Void {
  return { n in
    for _ in 0..<n {
      Count.destroyed.expect(count)
      drop(count)
      Count.destroyed.wait()
    }
  }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
@globalActor
private actor BenchmarkActor {
  static let shared = BenchmarkActor()
}

/// Counts deinits. Only the actor adds to it.
private final class Count: @unchecked Sendable {
  static let destroyed = Count()
  private var left = 0
  private let complete = DispatchSemaphore(value: 0)

  /// To be called before the first deinit.
  func expect(_ count: Int) { left = count }

  func add() {
    left -= 1
    if left == 0 { complete.signal() }
  }

  /// Returns when the expected number of deinits has run.
  func wait() { complete.wait() }
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

/// A balanced tree of `count` nodes; nil if there are none.
private func makeTree<Node>(
  _ count: Int, _ make: (Node?, Node?) -> Node
) -> Node? {
  if count == 0 { return nil }
  let left = (count - 1) / 2
  return make(makeTree(left, make), makeTree(count - 1 - left, make))
}

// ==== A task in a deinit =====================================================

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private final class TaskNode: @unchecked Sendable {
  let left, right: TaskNode?

  init(_ left: TaskNode?, _ right: TaskNode?) {
    self.left = left
    self.right = right
  }

  deinit {
    let children = (left, right)
    Task { @BenchmarkActor in
      Count.destroyed.add()
      withExtendedLifetime(children) {}
    }
  }

  @inline(never)
  static func array(_ count: Int) {
    blackHole((0..<count).map { _ in TaskNode(nil, nil) })
  }

  @inline(never)
  static func tree(_ count: Int) {
    blackHole(makeTree(count, TaskNode.init))
  }
}
