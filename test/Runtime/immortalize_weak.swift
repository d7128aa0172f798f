// RUN: %target-run-simple-swift
// REQUIRES: executable_test
// UNSUPPORTED: use_os_stdlib
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// The unpatched runtime counts each load of a weak reference, and aborts after 2^30.
// XFAIL: without_immortalize-side-table

// A weak reference to an object that was made immortal later: loading it writes nothing,
// neither to the object nor to its side table.

import StdlibUnittest

@_silgen_name("_swift_stdlib_immortalize")
func immortalize(_ object: UnsafeMutableRawPointer)

final class Node {}

final class Holder {
  weak var node: Node?
  init(_ node: Node) { self.node = node }
}

/// The side table that a weak reference points to: object, padding and counts.
func sideTable(_ holder: Holder) -> [UInt] {
  let storage = Unmanaged.passUnretained(holder).toOpaque() + 2 * MemoryLayout<UInt>.size
  // The low bits are marks.
  let address = storage.load(as: UInt.self) & ~3
  let words = UnsafeRawPointer(bitPattern: address)!.assumingMemoryBound(to: UInt.self)
  return (0..<4).map { words[$0] }
}

@inline(never) @_optimize(none)
func load(_ holder: Holder) -> Node? { holder.node }

let tests = TestSuite("ImmortalizeWeak")

tests.test("weak loads are not counted") {
  let node = Unmanaged.passRetained(Node())
  let holder = Holder(node.takeUnretainedValue())
  immortalize(node.toOpaque())
  expectEqual(node.toOpaque(), load(holder).map { Unmanaged.passUnretained($0).toOpaque() })

  let before = sideTable(holder)
  for _ in 0..<1000 { expectNotNil(load(holder)) }
  expectEqual(before, sideTable(holder))
}

tests.test("weak references come and go") {
  let node = Unmanaged.passRetained(Node())
  var holders = (0..<10).map { _ in Holder(node.takeUnretainedValue()) }
  immortalize(node.toOpaque())
  holders += (0..<10).map { _ in Holder(node.takeUnretainedValue()) }
  for _ in 0..<100 { node.release() }
  for holder in holders { expectNotNil(load(holder)) }
  holders.removeAll()
  expectNotNil(load(Holder(node.takeUnretainedValue())))
}

runAllTests()
