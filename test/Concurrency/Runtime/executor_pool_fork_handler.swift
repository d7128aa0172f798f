// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -parse-as-library %import-libdispatch %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env -u SWIFT_POOL %target-run %t/a.out | %FileCheck %s
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out | %FileCheck %s

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
// Tasks run in no child of a process whose tasks run on Dispatch's queues.
// XFAIL: without_executor-default

// A library begins its work anew in a child, by a handler that it has added before the first job of the process.

import Dispatch
import Glibc

@_silgen_name("fork") func cFork() -> Int32

let begun = DispatchSemaphore(value: 0)

@main struct Main {
  static func main() {
    pthread_atfork(nil, nil, { Task.detached { begun.signal() } })
    Task.detached { begun.signal() }
    begun.wait()
    usleep(100_000)
    for _ in 0..<20 {
      let child = cFork()
      if child == 0 {
        alarm(10)
        begun.wait()
        _exit(5)
      }
      var status: Int32 = 0
      waitpid(child, &status, 0)
      precondition(status == 5 << 8, "\(status)")
    }
    // CHECK: done
    print("done")
  }
}
