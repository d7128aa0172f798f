// RUN: %target-run-simple-swift( -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// Frames with a sanitizer are larger, or not on the stack.
// UNSUPPORTED: asan, tsan

// Deinits of actors that own each other nest: their locks are taken in place. How many
// fit on a stack must not depend on task-locals, and the runtime takes a small frame.

enum Local {
  @TaskLocal static var value = 0
}

nonisolated(unsafe) var first: Int?
nonisolated(unsafe) var last = 0

/// Notes how deep the stack is.
@inline(never) func mark() {
  var place = 0
  withUnsafeMutablePointer(to: &place) { last = Int(bitPattern: $0) }
  if first == nil { first = last }
}

// What an object owns is of a class that the compiler does not know: it would destroy a
// list of one class in a loop.
final class Plain {
  let next: AnyObject?
  init(_ next: AnyObject?) { self.next = next }
  deinit { mark() }
}

actor Own {
  nonisolated let next: AnyObject?
  init(_ next: AnyObject?) { self.next = next }
  isolated deinit { mark() }
}

/// How many bytes of stack the deinit of one object takes.
func stackOfDeinit(_ make: (AnyObject?) -> AnyObject) -> Int {
  let count = 50
  first = nil
  var list: AnyObject?
  for _ in 0..<count { list = make(list) }
  _ = consume list
  return (first! - last) / (count - 1)
}

@main struct Main {
  static func main() async {
    let plain = stackOfDeinit { Plain($0) }
    let own = stackOfDeinit { Own($0) }
    let underTaskLocal = Local.$value.withValue(1) { stackOfDeinit { Own($0) } }
    print(plain > 0 && own > plain ? "nested" : "not nested: \(plain), \(own)")
    print(own == underTaskLocal ? "same" : "under a task-local \(underTaskLocal), not \(own)")
#if arch(x86_64)
    // 160 without, 192 with the runtime's assertions.
    print(own - plain <= 192 ? "small" : "\(own - plain) bytes")
#else
    print("small")
#endif
  }
}

// CHECK: nested
// CHECK-NEXT: same
// CHECK-NEXT: small
