// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -target %target-future-triple %import-libdispatch -parse-as-library %s %S/Inputs/CancellationSupport.swift -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out inline | %FileCheck %s
// RUN: %target-run %t/a.out lock | %FileCheck %s
// RUN: %target-run %t/a.out join | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// It would hang.
// UNSUPPORTED: without_taskgroup-discarding-unlocked

// A child of a discarding group throws, and so cancels the others. Their
// handlers must be able to wait for what ends other children of the group.
//
// inline: a handler resumes another child, which ends on the same thread
// lock:   a handler wants a lock of a thread on which another child ends
// join:   a handler waits until another child has ended

import Dispatch
import Synchronization

/// Runs jobs at once, whoever enqueues them.
final class InlineExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
  }
}
let executor = InlineExecutor()

let otherThread = QueueExecutor()

struct Failed: Error {}

func run(_ mode: String) async {
  let first = Gate(), second = Gate(), failing = Gate()
  let handlers = Atomic<Int>(0)
  let lock = Mutex<Void>(())
  let handlerRuns = DispatchSemaphore(value: 0)
  let lockIsHeld = DispatchSemaphore(value: 0)
  let ended = DispatchSemaphore(value: 0)

  let task = Task {
    do {
      try await withThrowingDiscardingTaskGroup { group in
        group.addTask(executorPreference: mode == "join" ? otherThread : executor) {
          await second.wait()
          if mode == "join" { ended.signal() }
        }
        group.addTask {
          await withTaskCancellationHandler {
            await first.wait()
          } onCancel: {
            handlers.add(1, ordering: .relaxed)
            switch mode {
            case "inline":
              second.open()
            case "lock":
              handlerRuns.signal()
              lockIsHeld.wait()
              lock.withLock { _ in }
            default:
              second.open()
              ended.wait()
            }
            first.open()
          }
        }
        group.addTask {
          await failing.wait()
          throw Failed()
        }
      }
      fatalError("does not throw")
    } catch {}
  }
  while !(first.isWaiting && second.isWaiting && failing.isWaiting) {
    try! await Task.sleep(for: .microseconds(10))
  }
  if mode == "lock" {
    DispatchQueue(label: "ends a child").async {
      handlerRuns.wait()
      lock.withLock { _ in
        lockIsHeld.signal()
        second.open()
      }
    }
  }
  failing.open()
  await task.value
  precondition(handlers.load(ordering: .relaxed) == 1)
}

@main struct Main {
  static func main() async {
    for _ in 0..<100 { await run(CommandLine.arguments[1]) }
    // CHECK: done
    print("done")
  }
}
