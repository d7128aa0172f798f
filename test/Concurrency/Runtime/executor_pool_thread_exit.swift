// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: not --crash env %env-SWIFT_BACKTRACE=enable=no %env-SWIFT_POOL=1 %target-run %t/a.out 2>&1 | %FileCheck %s
// RUN: %if !without_executor-rescue %{ not --crash env %env-SWIFT_BACKTRACE=enable=no %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out block 2>&1 | %FileCheck %s %}

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// XFAIL: without_executor-pool

// A job that ends its thread ends the process, as with Dispatch's queues. Else the pool would lose a worker, or a
// stand-in that came as the worker was blocked.

import Glibc

// CHECK: Fatal error: pthread_exit() was called by a job of the global executor

@main struct Main {
  static func main() {
    alarm(20)
    if CommandLine.arguments.count > 1 {
      Task.detached { sleep(30) }
      usleep(10_000)
    }
    Task.detached { pthread_exit(nil) }
    sleep(30)
  }
}
