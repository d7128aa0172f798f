// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -target %target-future-triple %import-libdispatch -parse-as-library %s %S/Inputs/CancellationSupport.swift -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// It would hang.
// UNSUPPORTED: without_taskgroup-discarding-unlocked

// A child of a discarding group throws, and so cancels the others. While their handlers are called, the body adds a
// child: nobody waits, and that child sees that the group is cancelled.

import Dispatch
import Synchronization

let otherThread = QueueExecutor()

struct Failed: Error {}

func run() async {
  let gate = Gate(), lateRan = DispatchSemaphore(value: 0)
  let handlerRuns = Atomic(false), wasCancelled = Atomic(false)
  do {
    try await withThrowingDiscardingTaskGroup { group in
      group.addTask {
        await withTaskCancellationHandler {
          await gate.wait()
        } onCancel: {
          handlerRuns.store(true, ordering: .releasing)
          lateRan.wait()
          gate.open()
        }
      }
      while !gate.isWaiting { await Task.yield() }
      group.addTask(executorPreference: otherThread) { throw Failed() }
      while !handlerRuns.load(ordering: .acquiring) { await Task.yield() }
      precondition(group.isCancelled)
      let isAdded = group.addTaskUnlessCancelled { preconditionFailure() }
      precondition(!isAdded)
      group.addTask {
        wasCancelled.store(Task.isCancelled, ordering: .relaxed)
        lateRan.signal()
      }
    }
    fatalError("does not throw")
  } catch {}
  precondition(wasCancelled.load(ordering: .relaxed))
}

@main struct Main {
  static func main() async {
    for _ in 0..<100 { await run() }
    // CHECK: done
    print("done")
  }
}
