// RUN: %target-run-simple-swift( -O -target %target-future-triple %import-libdispatch -parse-as-library) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// What cannot work. Two threads cancel a task each. The two handlers resume each
// other's task, on an executor that runs it inline: each task ends the scope of
// a handler that is below it on the stack of the other thread. The end of the
// handler comes before the end of its scope, so both wait. The program ends by
// another thread, which is not held up.

import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif
import Synchronization

final class InlineExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
  }
}
let executor = InlineExecutor()
let gates = Mutex<[Int: UnsafeContinuation<Void, Never>]>([:])
let inHandler = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]

func wait(_ number: Int) async {
  await withTaskCancellationHandler {
    await withUnsafeContinuation { new in gates.withLock { $0[number] = new } }
  } onCancel: {
    inHandler[number].signal()
    inHandler[1 - number].wait()
    gates.withLock { $0[1 - number]! }.resume()
  }
}

@main struct Main {
  static func main() async {
    let tasks = (0..<2).map { number in
      Task(executorPreference: executor) { await wait(number) }
    }
    while gates.withLock({ $0.count }) < 2 { await Task.yield() }
    let ended = DispatchGroup()
    for task in tasks {
      DispatchQueue(label: "cancels").async(group: ended) { task.cancel() }
    }
    // Other tasks are cancelled and end meanwhile.
    let other = Task {
      await withTaskCancellationHandler {
        while !Task.isCancelled { await Task.yield() }
      } onCancel: {}
    }
    other.cancel()
    await other.value
    // CHECK: another task ends
    print("another task ends")
    ended.notify(queue: DispatchQueue(label: "never")) { print("both have ended") }
    await withUnsafeContinuation { done in
      DispatchQueue(label: "ends").asyncAfter(deadline: .now() + .milliseconds(500)) {
        done.resume()
      }
    }
    // CHECK-NOT: both have ended
    // CHECK: they wait
    print("they wait")
    exit(0)
  }
}
