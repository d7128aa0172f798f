//===--- IsolatedDeinit.swift ---------------------------------------------===//
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

// Objects are made, dropped, and waited for until the last one is destroyed.
//
// Nonisolated: a plain deinit (control). In those with OnActor the actor drops the
//              objects, as in NoHop: malloc takes another way on the first thread.
// NoHop:       an isolated deinit, the last reference goes away on its actor.
// Hop:         the last reference goes away elsewhere. In an array each object
//              hops, in a tree only the root does. In an interleaved tree the
//              levels alternate between two actors, and each object hops.
// Runs.N:      while the actor is busy, N objects hop, then a task waits for the
//              actor, then N objects hop, and so on.

import Dispatch
import TestsUtils

public var benchmarks: [BenchmarkInfo] {
  guard #available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, *) else {
    return []
  }
  return [
    entry("Nonisolated.Array.1000") { n in
      for _ in 0..<n {
        dropArray(1000) { Plain(nil, nil) }
        Plain.destroyed.checkAndReset(1000)
      }
    },
    entry("Nonisolated.Tree.1000") { n in
      for _ in 0..<n {
        dropTree(Plain.tree(1000))
        Plain.destroyed.checkAndReset(1000)
      }
    },
    entry("Nonisolated.OnActor.Array.1000") { n in
      onFirst {
        for _ in 0..<n {
          dropArray(1000) { Plain(nil, nil) }
          Plain.destroyed.checkAndReset(1000)
        }
      }
    },
    entry("Nonisolated.OnActor.Tree.1000") { n in
      onFirst {
        for _ in 0..<n {
          dropTree(Plain.tree(1000))
          Plain.destroyed.checkAndReset(1000)
        }
      }
    },
    entry("NoHop.Array.1000") { n in
      onFirst {
        for _ in 0..<n {
          dropArray(1000) { First(nil, nil) }
          First.destroyed.checkAndReset(1000)
        }
      }
    },
    entry("NoHop.Tree.1000") { n in
      onFirst {
        for _ in 0..<n {
          dropTree(First.tree(1000))
          First.destroyed.checkAndReset(1000)
        }
      }
    },
    entry("Hop.Array.100") { n in
      for _ in 0..<n {
        First.destroyed.expect(100)
        dropArray(100) { First(nil, nil) }
        First.destroyed.wait()
      }
    },
    entry("Hop.Array.1000") { n in
      for _ in 0..<n {
        First.destroyed.expect(1000)
        dropArray(1000) { First(nil, nil) }
        First.destroyed.wait()
      }
    },
    entry("Hop.Tree.1000") { n in
      for _ in 0..<n {
        First.destroyed.expect(1000)
        dropTree(First.tree(1000))
        First.destroyed.wait()
      }
    },
    entry("Hop.Runs.1.200") { n in
      for _ in 0..<n { dropRuns(of: 1, 200) }
    },
    entry("Hop.Runs.2.200") { n in
      for _ in 0..<n { dropRuns(of: 2, 200) }
    },
    entry("Hop.Runs.3.200") { n in
      for _ in 0..<n { dropRuns(of: 3, 200) }
    },
    entry("Hop.Interleaved.1000") { n in
      for _ in 0..<n {
        let (first, second) = interleavedCounts(1000)
        Even.destroyed.expect(first)
        Odd.destroyed.expect(second)
        dropTree(Even.tree(1000))
        Even.destroyed.wait()
        Odd.destroyed.wait()
      }
    },
  ]
}

private func entry(
  _ name: String, _ run: @escaping (Int) -> Void
) -> BenchmarkInfo {
  BenchmarkInfo(
    name: "IsolatedDeinit." + name, runFunction: run, tags: [.concurrency])
}

@globalActor
@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private actor FirstActor {
  static let shared = FirstActor()
}

@globalActor
@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private actor SecondActor {
  static let shared = SecondActor()
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

/// A balanced tree of `count` nodes below and with the one that is returned.
private func makeTree<Node>(
  _ count: Int, _ make: (Node?, Node?) -> Node
) -> Node? {
  if count == 0 { return nil }
  let left = (count - 1) / 2
  return make(makeTree(left, make), makeTree(count - 1 - left, make))
}

private class Plain {
  static let destroyed = Count()
  let left, right: Plain?

  init(_ left: Plain?, _ right: Plain?) {
    self.left = left
    self.right = right
  }

  static func tree(_ count: Int) -> Plain { makeTree(count, Plain.init)! }

  deinit { Plain.destroyed.add() }
}

@available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, *)
private final class First: @unchecked Sendable {
  static let destroyed = Count()
  let left, right: First?

  init(_ left: First?, _ right: First?) {
    self.left = left
    self.right = right
  }

  static func tree(_ count: Int) -> First { makeTree(count, First.init)! }

  @FirstActor deinit { First.destroyed.add() }
}

@available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, *)
private final class Even: @unchecked Sendable {
  static let destroyed = Count()
  let left, right: Odd?

  init(_ left: Odd?, _ right: Odd?) {
    self.left = left
    self.right = right
  }

  /// As makeTree, the levels alternate between Even and Odd.
  static func tree(_ count: Int) -> Even {
    let left = (count - 1) / 2
    return Even(Odd.tree(left), Odd.tree(count - 1 - left))
  }

  @FirstActor deinit { Even.destroyed.add() }
}

@available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, *)
private final class Odd: @unchecked Sendable {
  static let destroyed = Count()
  let left, right: Even?

  init(_ left: Even?, _ right: Even?) {
    self.left = left
    self.right = right
  }

  static func tree(_ count: Int) -> Odd? {
    if count == 0 { return nil }
    let left = (count - 1) / 2
    let right = count - 1 - left
    return Odd(
      left > 0 ? Even.tree(left) : nil, right > 0 ? Even.tree(right) : nil)
  }

  @SecondActor deinit { Odd.destroyed.add() }
}

/// How many nodes of an interleaved tree are Even, and how many are Odd.
private func interleavedCounts(_ count: Int) -> (even: Int, odd: Int) {
  if count == 0 { return (0, 0) }
  let left = interleavedCounts((count - 1) / 2)
  let right = interleavedCounts(count - 1 - (count - 1) / 2)
  return (1 + left.odd + right.odd, left.even + right.even)
}

@inline(never)
private func dropArray<Element>(_ count: Int, _ make: () -> Element) {
  blackHole((0..<count).map { _ in make() })
}

@inline(never)
private func dropTree<Node>(_ tree: consuming Node) {
  blackHole(tree)
}

/// The thread is blocked, and with it the actor.
private func block(_ gate: DispatchSemaphore) { gate.wait() }

@available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, *)
private func dropRuns(of length: Int, _ count: Int) {
  let entered = DispatchSemaphore(value: 0)
  let gate = DispatchSemaphore(value: 0)
  First.destroyed.expect(count)
  Task.detached { @FirstActor in
    entered.signal()
    block(gate)
  }
  entered.wait()
  var objects = (0..<count).map { _ in First(nil, nil) }
  while !objects.isEmpty {
    for _ in 0..<min(length, objects.count) { objects.removeLast() }
    Task.detached { @FirstActor in blackHole(length) }
  }
  gate.signal()
  First.destroyed.wait()
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func onFirst(_ body: @escaping @FirstActor () -> Void) {
  let finished = DispatchSemaphore(value: 0)
  Task.detached { @FirstActor in
    body()
    finished.signal()
  }
  finished.wait()
}
