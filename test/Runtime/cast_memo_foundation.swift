// RUN: %target-run-simple-swift | %FileCheck %s

// REQUIRES: executable_test
// UNSUPPORTED: use_os_stdlib
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// With Foundation, boxes and the object that stands for nil have classes that the
// runtime does not know. The object decides whether a cast to a protocol succeeds, not
// its class, so the failure of one must not be kept for another.

#if canImport(Foundation)
import Foundation
let null: AnyObject = NSNull()
#else
let null: AnyObject = Int?.none as AnyObject
#endif

protocol Shape {}
protocol Empty {}
struct Blob {}
struct Square: Shape {}
extension Optional: Empty {}
class Other: Empty {}
class Plain {}

@inline(never) func isShape(_ object: AnyObject) -> Bool { object is any Shape }
@inline(never) func isShape(any value: Any) -> Bool { value is any Shape }
@inline(never) func isEmpty(_ object: AnyObject) -> Bool { object is any Empty }
@inline(never) func isEmpty(any value: Any) -> Bool { value is any Empty }

for _ in 0..<2 {
  // CHECK: box: false true false true
  print("box:", isShape(Blob() as AnyObject), isShape(Square() as AnyObject),
        isShape(any: Blob() as AnyObject), isShape(any: Square() as AnyObject))
  // What is not a box is answered as ever.
  // CHECK: class: false true
  print("class:", isEmpty(Plain()), isEmpty(Other()))
  // CHECK: null: false
  print("null:", isShape(null))
}

// An object that fails, and then one of its class that holds nil.
for _ in 0..<2 {
  // CHECK: nil: {{true|false}} true true
  print("nil:", isEmpty(null), isEmpty(Int?.none as AnyObject), isEmpty(any: Int?.none as AnyObject))
  // CHECK: value: false
  print("value:", isEmpty(1 as AnyObject))
}
