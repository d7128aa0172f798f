// RUN: %empty-directory(%t)
// RUN: %target-build-swift %import-libdispatch -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=0 %env-SWIFT_LIVENESS_TIMEOUT=200 %target-run %t/a.out 2>&1 | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// A runtime without the monitor reports nothing.
// XFAIL: without_executor-liveness-marks

// Every thread of the pool waits for a semaphore that only a job of the pool could
// signal. The report says that the pool as a whole stands still, and when it ends.

import Dispatch
import Glibc

@main struct Main {
  static func main() async {
    setvbuf(stdout, nil, _IOLBF, 0)
    let semaphore = DispatchSemaphore(value: 0)
    let waiters = sysconf(Int32(_SC_NPROCESSORS_ONLN)) + 1
    for i in 0..<waiters {
      Task.detached(name: "waiter \(i)") { semaphore.wait() }
    }
    // Not a job of the pool.
    DispatchQueue.global().asyncAfter(deadline: .now() + 1.5) {
      // CHECK: liveness: {{.*}} "waiter {{[0-9]+}}", blocked, stuck for
      // CHECK: waits in futex
      // CHECK: liveness: {{[-0-9T:.]+Z}} the whole pool is stalled: no thread took a job that was queued {{[2-9][0-9][0-9]|1...}} ms ago
      // CHECK-NEXT: other threads:
      // CHECK-NEXT: "waiter {{[0-9]+}}", blocked, stuck for
      // CHECK-NOT: pool is stalled
      // CHECK: signal
      print("signal")
      for _ in 0..<waiters { semaphore.signal() }
    }
    await Task.detached {}.value
    try? await Task.sleep(nanoseconds: 400_000_000)
    // Each thread that moves again is reported, too, in the order in which they run.
    // CHECK: liveness: {{[-0-9T:.]+Z}} the pool takes jobs again after
    // CHECK-NOT: {{stalled|stuck|takes jobs again}}
    // CHECK: done
    print("done")
  }
}
