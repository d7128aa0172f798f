// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -parse-as-library %import-libdispatch %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_CPU_QUOTA=0 %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// ThreadSanitizer knows no threads in the child of a process with several.
// UNSUPPORTED: tsan
// Dispatch resumes the sleepers of an executor in the child.
// XFAIL: without_executor-dispatch

// A process forks while its executor holds the blocks by which sleepers are resumed. In the child, a task of that
// executor sleeps.

import Dispatch
import Glibc
import Synchronization

@_silgen_name("fork") func cFork() -> Int32

let isHeld = Atomic(false), hasSlept = Atomic(false)
let entered = DispatchSemaphore(value: 0), gate = DispatchSemaphore(value: 0)

final class Inline: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    if isHeld.load(ordering: .acquiring) {
      entered.signal()
      gate.wait()
    }
    UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
  }
}

func sleepOnce(_ milliseconds: UInt64, _ executor: Inline) {
  Task.detached(executorPreference: executor) {
    try? await Task.sleep(nanoseconds: milliseconds * 1_000_000)
    hasSlept.store(true, ordering: .releasing)
  }
}

@main struct Main {
  static func main() {
    alarm(60)
    let executor = Inline(), processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    // The executor is this thread, so each sleeps when the call returns.
    for _ in 0..<processors { sleepOnce(1000, executor) }
    isHeld.store(true, ordering: .releasing)
    for _ in 0..<processors { entered.wait() }
    let child = cFork()
    if child == 0 {
      alarm(20)
      isHeld.store(false, ordering: .releasing)
      hasSlept.store(false, ordering: .releasing)
      sleepOnce(10, executor)
      while !hasSlept.load(ordering: .acquiring) { usleep(1000) }
      _exit(5)
    }
    var status: Int32 = 0
    waitpid(child, &status, 0)
    precondition(status == 5 << 8, "\(status)")
    // CHECK: done
    print("done")
    exit(0)
  }
}
