//===--- Trees.swift ------------------------------------------------------===//
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

// A full binary tree is made, copied, and torn down, as separate objects and in
// one buffer.
//
// Generate: a tree is made and dropped.
// Copy:     a tree is copied, and the copy dropped.
// Delete:   a tree is dropped that was made before. Trees are made ahead of the
//           measurement; when they run out, the making of more is in the time.
//
// Class, Enum:   an object for each node.
// IsolatedClass: with a deinit on an actor; it is dropped elsewhere.
// Array:         nodes in an array refer to each other by index; a copy is made
//                node by node.
// CopyOnWrite:   the same array, copied by its first write.
// Arena:         nodes in memory that the tree owns alone; a copy is a copy of
//                the memory.

import Dispatch
#if canImport(TestsUtils)
import TestsUtils

private let depth = 8

public var benchmarks: [BenchmarkInfo] {
  var all = entries("Class", ClassTree.self) + entries("Enum", EnumTree.self)
    + entries("Array", ArrayTree.self) + entries("CopyOnWrite", CopyOnWriteTree.self)
    + entries("Arena", ArenaTree.self)
  if #available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, *) {
    all += entries("IsolatedClass", OneActorTree.self)
  }
  return all
}

private func entries<T: Tree & ~Copyable>(_ name: String, _: T.Type) -> [BenchmarkInfo] {
  let prepared = Prepared<T>()
  return [
    entry("Generate." + name) { n in
      for _ in 0..<n {
        var made: Box<T>? = Box(T(depth: depth))
        drop(&made)
      }
    },
    BenchmarkInfo(
      name: "TreeCopy." + name,
      runFunction: { n in
        for _ in 0..<n {
          var copy: Box<T>? = Box(prepared.trees[0].tree.copied())
          drop(&copy)
        }
      }, tags: [.runtime],
      setUpFunction: { prepared.fill(1) }, tearDownFunction: { prepared.clear() }),
    BenchmarkInfo(
      name: "TreeDelete." + name,
      runFunction: { n in
        for _ in 0..<n {
          if prepared.trees.isEmpty { prepared.fill(1024) }
          prepared.dropLast()
        }
      }, tags: [.runtime],
      setUpFunction: { prepared.fill(4096) },
      tearDownFunction: { prepared.clear() }),
  ]
}

private func entry(
  _ name: String, _ run: @escaping (Int) -> Void
) -> BenchmarkInfo {
  BenchmarkInfo(name: "Tree" + name, runFunction: run, tags: [.runtime])
}

private final class Prepared<T: Tree & ~Copyable> {
  var trees: [Box<T>] = []

  func fill(_ count: Int) {
    while trees.count < count { trees.append(Box(T(depth: depth))) }
  }

  func clear() {
    while !trees.isEmpty { dropLast() }
  }

  func dropLast() {
    var last = trees.popLast()
    drop(&last)
  }
}

/// Returns when the tree is destroyed.
@inline(never)
private func drop<T: Tree & ~Copyable>(_ box: inout Box<T>?) {
  blackHole(box)
  box = nil
  T.waitForDrop()
}
#endif

/// A full binary tree. The value of a node is its number in level order, from 1.
protocol Tree: ~Copyable {
  init(depth: Int)

  /// A tree that shares no memory with this one.
  borrowing func copied() -> Self

  /// The sum of all values.
  borrowing func sum() -> Int

  /// To be called after a tree was dropped. Returns when it is destroyed.
  static func waitForDrop()
}

extension Tree where Self: ~Copyable {
  static func waitForDrop() {}
}

/// Holds a tree, which can be one that is not copyable.
final class Box<T: Tree & ~Copyable> {
  let tree: T
  init(_ tree: consuming T) { self.tree = tree }
}

// MARK: An object for each node

final class ClassNode {
  let value: Int
  let left, right: ClassNode?

  init(_ value: Int, _ left: ClassNode?, _ right: ClassNode?) {
    (self.value, self.left, self.right) = (value, left, right)
  }

  convenience init(_ value: Int, depth: Int) {
    self.init(
      value, depth > 1 ? ClassNode(2 * value, depth: depth - 1) : nil,
      depth > 1 ? ClassNode(2 * value + 1, depth: depth - 1) : nil)
  }

  func copied() -> ClassNode {
    ClassNode(value, left?.copied(), right?.copied())
  }

  func sum() -> Int { value + (left?.sum() ?? 0) + (right?.sum() ?? 0) }
}

struct ClassTree: Tree {
  let root: ClassNode
  init(depth: Int) { root = ClassNode(1, depth: depth) }
  private init(_ root: ClassNode) { self.root = root }
  func copied() -> ClassTree { ClassTree(root.copied()) }
  func sum() -> Int { root.sum() }
}

indirect enum EnumNode {
  case leaf
  case node(Int, EnumNode, EnumNode)

  init(_ value: Int, depth: Int) {
    self = depth == 0 ? .leaf : .node(
      value, EnumNode(2 * value, depth: depth - 1),
      EnumNode(2 * value + 1, depth: depth - 1))
  }

  func copied() -> EnumNode {
    switch self {
    case .leaf: return .leaf
    case .node(let value, let left, let right):
      return .node(value, left.copied(), right.copied())
    }
  }

  func sum() -> Int {
    switch self {
    case .leaf: return 0
    case .node(let value, let left, let right):
      return value + left.sum() + right.sum()
    }
  }
}

struct EnumTree: Tree {
  let root: EnumNode
  init(depth: Int) { root = EnumNode(1, depth: depth) }
  private init(_ root: EnumNode) { self.root = root }
  func copied() -> EnumTree { EnumTree(root.copied()) }
  func sum() -> Int { root.sum() }
}

// MARK: A deinit on an actor

@globalActor
@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
actor FirstTreeActor {
  static let shared = FirstTreeActor()
}

@globalActor
@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
actor SecondTreeActor {
  static let shared = SecondTreeActor()
}

/// Counts the deinits that run on one actor, of one tree at a time.
final class TreeDeinits: @unchecked Sendable {
  /// The nodes of a tree. Set long before it is dropped: the optimizer may release
  /// an object earlier than the statement before.
  var count = -1
  private var found = 0
  private let complete = DispatchSemaphore(value: 0)

  func add() {
    found += 1
    if found == count {
      found = 0
      complete.signal()
    }
  }

  /// Returns when the deinits of a tree have run.
  func wait() { complete.wait() }
}

/// All deinits are on one actor.
@available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, *)
final class OneActorNode: @unchecked Sendable {
  static let deinits = TreeDeinits()
  let value: Int
  let left, right: OneActorNode?

  init(_ value: Int, _ left: OneActorNode?, _ right: OneActorNode?) {
    (self.value, self.left, self.right) = (value, left, right)
  }

  static func make(_ value: Int, depth: Int) -> OneActorNode? {
    if depth == 0 { return nil }
    return OneActorNode(
      value, make(2 * value, depth: depth - 1),
      make(2 * value + 1, depth: depth - 1))
  }

  func copied() -> OneActorNode {
    OneActorNode(value, left?.copied(), right?.copied())
  }

  func sum() -> Int { value + (left?.sum() ?? 0) + (right?.sum() ?? 0) }

  @FirstTreeActor deinit { OneActorNode.deinits.add() }
}

@available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, *)
struct OneActorTree: Tree {
  let root: OneActorNode
  init(depth: Int) {
    OneActorNode.deinits.count = 1 << depth - 1
    root = OneActorNode.make(1, depth: depth)!
  }
  private init(_ root: OneActorNode) { self.root = root }
  func copied() -> OneActorTree { OneActorTree(root.copied()) }
  func sum() -> Int { root.sum() }
  static func waitForDrop() { OneActorNode.deinits.wait() }
}

// MARK: In one buffer

struct IndexNode {
  let left, right: Int32
  var value: Int
}

/// A copy is made node by node.
struct ArrayTree: Tree {
  private var nodes: ContiguousArray<IndexNode>

  init(depth: Int) {
    nodes = []
    nodes.reserveCapacity(1 << depth - 1)
    _ = add(1, depth: depth)
  }

  private mutating func add(_ value: Int, depth: Int) -> Int32 {
    if depth == 0 { return -1 }
    let left = add(2 * value, depth: depth - 1)
    let right = add(2 * value + 1, depth: depth - 1)
    nodes.append(IndexNode(left: left, right: right, value: value))
    return Int32(nodes.count - 1)
  }

  private init(copying other: ArrayTree) {
    nodes = []
    nodes.reserveCapacity(other.nodes.count)
    _ = add(Int32(other.nodes.count - 1), of: other)
  }

  private mutating func add(_ index: Int32, of other: ArrayTree) -> Int32 {
    if index < 0 { return -1 }
    let node = other.nodes[Int(index)]
    let left = add(node.left, of: other)
    let right = add(node.right, of: other)
    nodes.append(IndexNode(left: left, right: right, value: node.value))
    return Int32(nodes.count - 1)
  }

  func copied() -> ArrayTree { ArrayTree(copying: self) }
  func sum() -> Int { nodes.reduce(0) { $0 + $1.value } }

  /// Writes to the root, which copies the buffer if it is shared.
  mutating func touch() { nodes[nodes.count - 1].value += 0 }
}

struct CopyOnWriteTree: Tree {
  private var tree: ArrayTree
  init(depth: Int) { tree = ArrayTree(depth: depth) }

  func copied() -> CopyOnWriteTree {
    var copy = self
    copy.tree.touch()
    return copy
  }

  func sum() -> Int { tree.sum() }
}

struct ArenaTree: Tree, ~Copyable {
  private let nodes: UnsafeMutableBufferPointer<IndexNode>

  /// Level by level: the children of node i are 2 * i + 1 and 2 * i + 2.
  init(depth: Int) {
    let count = 1 << depth - 1
    nodes = .allocate(capacity: count)
    for index in 0..<count {
      let left = 2 * index + 1
      nodes.initializeElement(
        at: index,
        to: left < count
          ? IndexNode(left: Int32(left), right: Int32(left + 1), value: index + 1)
          : IndexNode(left: -1, right: -1, value: index + 1))
    }
  }

  private init(_ nodes: UnsafeMutableBufferPointer<IndexNode>) {
    self.nodes = nodes
  }

  borrowing func copied() -> ArenaTree {
    let copy = UnsafeMutableBufferPointer<IndexNode>.allocate(
      capacity: nodes.count)
    _ = copy.initialize(fromContentsOf: nodes)
    return ArenaTree(copy)
  }

  borrowing func sum() -> Int {
    nodes.reduce(0) { $0 + $1.value }
  }

  deinit { nodes.deallocate() }
}
