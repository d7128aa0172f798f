// RUN: %target-run-simple-swift( -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// The unpatched runtime takes the stop-lookup marker from the task allocator
// and gives it to free(). With no task that allocator is shared by all threads.
// XFAIL: without_tasklocal-marker-off-task

// Default actors whose last reference goes away on threads that run no task,
// inside a task-local binding of that thread.

import Dispatch
import Synchronization

enum TL {
  @TaskLocal static var request: Int = 0
  @TaskLocal static var nested: Int = 0
}

let destroyed = Atomic<Int>(0)
let wrong = Atomic<Int>(0)

func expect(_ condition: Bool) {
  if !condition { wrong.add(1, ordering: .relaxed) }
}

actor Session {
  var next: Session?

  init(_ length: Int) {
    next = length > 1 ? Session(length - 1) : nil
  }

  isolated deinit {
    expect(TL.request == 0 && TL.nested == 0)
    TL.$nested.withValue(7) {
      next = nil
      expect(TL.request == 0 && TL.nested == 7)
    }
    destroyed.add(1, ordering: .relaxed)
  }
}

@main
struct Main {
  static func main() {
    DispatchQueue.concurrentPerform(iterations: 2000) { i in
      expect(TL.request == 0)
      TL.$request.withValue(i + 1) {
        do { _ = Session(1 + i % 5) }
        expect(TL.request == i + 1)
        TL.$request.withValue(-1) {
          do { _ = Session(1) }
          expect(TL.request == -1)
        }
        expect(TL.request == i + 1)
      }
      // With nothing bound no marker is made.
      do { _ = Session(1) }
    }
    // CHECK: destroyed 10000, wrong 0
    print("destroyed \(destroyed.load(ordering: .relaxed)), wrong \(wrong.load(ordering: .relaxed))")
  }
}
