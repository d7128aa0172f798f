// RUN: %target-run-simple-swift( -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library -Xfrontend -enable-builtin-module) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// Without the patch the storage of the thread is used after free, or freed twice.
// XFAIL: without_tasklocal-pop-off-task

// The deinit of a value may bind task-locals itself. Without a task the bindings
// are in a storage of the thread, which goes away with the last of them.

import Builtin

// What withValue calls. It may let go of its argument, so that the runtime has
// the last reference to the value.
@_silgen_name("swift_task_localValuePush")
func localValuePush<Value>(_ key: Builtin.RawPointer, _ value: __owned Value)
@_silgen_name("swift_task_localValuePop")
func localValuePop()

enum TL {
  @TaskLocal static var value: Value? = nil
  @TaskLocal static var number = 0
}

nonisolated(unsafe) var blocks: [UnsafeMutablePointer<Int>] = []

final class Value: Sendable {
  deinit {
    precondition(TL.value == nil)
    TL.$number.withValue(1) { precondition(TL.number == 1) }
    precondition(TL.number == 0)
    // If the storage is free already then one of these may get its memory.
    for _ in 0..<8 {
      let block = UnsafeMutablePointer<Int>.allocate(capacity: 1)
      block.initialize(to: 0)
      blocks.append(block)
    }
  }
}

@main struct Main {
  static func main() {
    for _ in 0..<100 {
      blocks.reserveCapacity(8)
      localValuePush(
        unsafeBitCast(TL.$value, to: Builtin.RawPointer.self), Optional(Value()))
      precondition(TL.value != nil)
      localValuePop()
      precondition(TL.value == nil)
      for block in blocks {
        precondition(block.pointee == 0)
        // And then this would free it again.
        block.deallocate()
      }
      blocks.removeAll(keepingCapacity: true)
    }
    // CHECK: done
    print("done")
  }
}
