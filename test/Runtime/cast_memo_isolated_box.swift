// RUN: %empty-directory(%t)
// RUN: %target-build-swift -swift-version 6 %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s
// RUN: %target-run %t/a.out main first | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: use_os_stdlib
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// A box whose class conforms on the main actor only: elsewhere, the value in it decides, whoever has asked before.

import Glibc

protocol Shape {}
extension Int: Shape {}

final class Box: _NSSwiftValue {
  let value: Any
  required init(_ value: Any) { self.value = value }
  static var null: AnyObject { Box(0) }
}
extension Box: @MainActor Shape {}

nonisolated(unsafe) let boxes: [Any] = [Box(1), Box("1")]

@inline(never) func isShape(_ value: Any) -> Bool { value is any Shape }

func inAnotherThread() -> [Bool] {
  var thread = pthread_t()
  pthread_create(&thread, nil, { _ in
    let found = (isShape(boxes[0]) ? 1 : 0) + (isShape(boxes[1]) ? 2 : 0)
    return UnsafeMutableRawPointer(bitPattern: found + 4)
  }, nil)
  var result: UnsafeMutableRawPointer?
  pthread_join(thread, &result)
  let found = Int(bitPattern: result)
  return [found & 1 != 0, found & 2 != 0]
}

if CommandLine.arguments.count > 1 { for _ in 0..<2 { _ = boxes.map(isShape) } }
for _ in 0..<2 {
  // CHECK: [true, false]
  print(inAnotherThread())
  // CHECK: [true, true]
  print(boxes.map(isShape))
}
