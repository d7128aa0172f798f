// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/../../Runtime/Inputs/real-time.c -o %t/real-time.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/../../Runtime/Inputs/real-time.h %s %t/real-time.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=2 %target-run %t/a.out | %FileCheck %s

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: no_real_time_threads
// A thread that ThreadSanitizer knows does more than its body.
// UNSUPPORTED: tsan
// Dispatch's threads inherit the policy of the thread that makes the first task.
// UNSUPPORTED: without_executor-pool

// A real-time thread makes the first tasks of the process. The threads that run them, and those that stand in for
// blocked ones, are no real-time threads, as the first thread is none.

import Dispatch
import Glibc
import Synchronization

let policies = Mutex<Set<Int32>>([])
let ended = DispatchSemaphore(value: 0)
let count = 32

@main struct Main {
  static func main() {
    alarm(60)
    var thread = pthread_t()
    let error = startThread(&thread, 10) { _ in
      for _ in 0..<count {
        Task.detached {
          usleep(20_000)
          policies.withLock { _ = $0.insert(sched_getscheduler(0)) }
          ended.signal()
        }
      }
      return nil
    }
    if error == EPERM { return print("may not have real-time threads here") }
    precondition(error == 0)
    pthread_join(thread, nil)
    for _ in 0..<count { ended.wait() }
    print("policies:", policies.withLock { $0 == [SCHED_OTHER] })
  }
}

// The second is for a Swift checkout, which has no feature that says so.
// CHECK: {{policies: true|may not have real-time threads here}}
