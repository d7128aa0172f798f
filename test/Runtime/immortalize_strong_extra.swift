// RUN: %target-run-simple-swift
// REQUIRES: executable_test
// UNSUPPORTED: use_os_stdlib
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// The unpatched runtime loses immortality if the object had one reference.
// XFAIL: without_immortalize-strong-extra

// An object that was made immortal is not counted any more, whatever its counts
// were: retaining and releasing it does not write to it, it is not destroyed, and
// weak and unowned references to it stay valid.

import StdlibUnittest

@_silgen_name("_swift_stdlib_immortalize")
func immortalize(_ object: UnsafeMutableRawPointer)

var destroyed = 0

final class Node {
  deinit { destroyed += 1 }
}

// Not optimized, or the pairs below would be removed.
@_optimize(none) @inline(never)
func retain(_ object: Unmanaged<Node>) { _ = object.retain() }

@_optimize(none) @inline(never)
func release(_ object: Unmanaged<Node>) { object.release() }

/// The reference counts of an object, or a pointer to them: its second word.
func counts(_ object: Unmanaged<Node>) -> UInt {
  object.toOpaque().load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt.self)
}

let tests = TestSuite("Immortalize")

for references in 1...4 {
  tests.test("\(references) references") {
    destroyed = 0
    let object = Unmanaged.passRetained(Node())
    for _ in 1..<references { retain(object) }

    immortalize(object.toOpaque())
    let immortal = counts(object)
    for _ in 0..<1000 {
      retain(object)
      release(object)
    }
    expectEqual(immortal, counts(object))

    for _ in 0..<1000 { release(object) }
    expectEqual(immortal, counts(object))
    expectEqual(0, destroyed)
  }
}

tests.test("retained first") {
  destroyed = 0
  let object = Unmanaged.passRetained(Node())
  immortalize(object.toOpaque())
  let immortal = counts(object)
  for _ in 0..<1000 { retain(object) }
  expectEqual(immortal, counts(object))
  for _ in 0..<2000 { release(object) }
  expectEqual(immortal, counts(object))
  expectEqual(0, destroyed)
}

tests.test("weak and unowned references") {
  destroyed = 0
  // Several, because the address of a side table decides what is left in the
  // counts if it is not replaced as a whole.
  for _ in 0..<100 {
    let object = Unmanaged.passRetained(Node())
    weak var weakReference = object.takeUnretainedValue()
    unowned let unownedReference = object.takeUnretainedValue()

    immortalize(object.toOpaque())
    release(object)
    release(object)
    expectNotNil(weakReference)
    expectTrue(weakReference === unownedReference)
    expectEqual(object.toOpaque(), Unmanaged.passUnretained(unownedReference).toOpaque())
  }
  expectEqual(0, destroyed)
}

runAllTests()
