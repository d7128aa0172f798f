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

// Objects with an asynchronous deinit, which runs in a task of its own.
//
// TaskInDeinit: what is written without it: a plain deinit makes a task, which
//               captures the state of the object.
// Plain:        an asynchronous deinit.
// Copy:         one which sees the task-locals of the last release, by their
//               number.
//
// In a tree each node releases its children in its deinit. The compiler emits no
// asynchronous deinits, so the runtime is called as the compiler would call it.
// Where the runtime has no such function there is TaskInDeinit only.

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
  var entries = [
    entry("TaskInDeinit.Array.500", run(500, TaskNode.array)),
    entry("TaskInDeinit.Tree.500", run(500, TaskNode.tree)),
  ]
  if let deinitAsync = DeinitAsync.find() {
    let plain = AsyncObjects(deinitAsync, flags: 0)
    let copy = AsyncObjects(deinitAsync, flags: 1)  // CopyTaskLocals
    entries += [
      entry("Plain.Array.500", run(500, plain.array)),
      entry("Plain.Tree.500", run(500, plain.tree)),
      entry("Copy.0.Array.500", run(500, copy.array)),
      entry("Copy.1.Array.500", bound: 1, run(500, copy.array)),
      entry("Copy.100.Array.100", bound: 100, run(100, copy.array)),
      entry("Copy.100.Tree.100", bound: 100, run(100, copy.tree)),
    ]
  }
  return entries
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

// ==== An asynchronous deinit =================================================

/// A node whose last release is a call of AsyncObjects.drop.
@available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, *)
private final class AsyncNode: @unchecked Sendable {
  unowned(unsafe) let objects: AsyncObjects
  let left, right: Unmanaged<AsyncNode>?

  init(
    _ objects: AsyncObjects, _ left: Unmanaged<AsyncNode>?,
    _ right: Unmanaged<AsyncNode>?
  ) {
    self.objects = objects
    self.left = left
    self.right = right
  }

  /// What is called instead of an asynchronous deinit. Both take the object as
  /// the context of the call, and both end it.
  @BenchmarkActor func end() async {
    Count.destroyed.add()
    if let left = left { objects.drop(left) }
    if let right = right { objects.drop(right) }
    Unmanaged.passUnretained(self).release()
  }
}

/// swift_task_deinitAsync(object, work, executor, flags).
@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private enum DeinitAsync {
  typealias Function = @convention(c) (
    _ object: UnsafeMutableRawPointer, _ work: UnsafeRawPointer,
    _ executorIdentity: UnsafeRawPointer?, _ executorImplementation: UInt,
    _ flags: UInt
  ) -> Void

  /// The function of the runtime that is loaded, if it has one.
  static func find() -> Function? {
#if canImport(Darwin)
    let anywhere = UnsafeMutableRawPointer(bitPattern: -2)  // RTLD_DEFAULT
#else
    let anywhere: UnsafeMutableRawPointer? = nil
#endif
    return dlsym(anywhere, "swift_task_deinitAsync").map {
      unsafeBitCast($0, to: Function.self)
    }
  }
}

@available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, *)
private final class AsyncObjects: @unchecked Sendable {
  private let deinitAsync: DeinitAsync.Function
  private let flags: UInt
  private let executor: (identity: UnsafeRawPointer?, implementation: UInt)
  private var work: UnsafeRawPointer

  /// A method of an object, as it is called: an async function pointer, and the
  /// object. (A generic type would store it in another form.)
  private struct Method { var function: @BenchmarkActor () async -> Void }

  init(_ deinitAsync: @escaping DeinitAsync.Function, flags: UInt) {
    self.deinitAsync = deinitAsync
    self.flags = flags
    executor = unsafeBitCast(
      BenchmarkActor.shared.unownedExecutor, to: (UnsafeRawPointer?, UInt).self)
    work = UnsafeRawPointer(bitPattern: 1)!
    let node = AsyncNode(self, nil, nil)
    let (function, context) = unsafeBitCast(
      Method(function: node.end), to: (UnsafeRawPointer, UnsafeRawPointer).self)
    precondition(context == UnsafeRawPointer(Unmanaged.passUnretained(node).toOpaque()))
    work = function
  }

  fileprivate func drop(_ node: Unmanaged<AsyncNode>) {
    deinitAsync(
      node.toOpaque(), work, executor.identity, executor.implementation, flags)
  }

  @inline(never)
  private func makeArray(_ count: Int) -> [Unmanaged<AsyncNode>] {
    (0..<count).map { _ in
      Unmanaged.passRetained(AsyncNode(self, nil, nil))
    }
  }

  func array(_ count: Int) { makeArray(count).forEach(drop) }

  func tree(_ count: Int) {
    let root = makeTree(count) {
      Unmanaged.passRetained(AsyncNode(self, $0, $1))
    }
    drop(root!)
  }
}
