// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %t/support.o -o %t/a.out
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
// XFAIL: without_executor-default

// The first job of the process is one of a child. Dispatch has had blocks and timers before, and the parent has
// threads for them.

import Dispatch
import Glibc

/// Runs `body` in a child, which ends with 5.
func inChild(_ name: String, _ body: () -> Void) {
  let child = forkProcess()
  if child == 0 {
    alarm(20)
    body()
    sleep(30)
    _exit(6)
  }
  let status = waitForChild(child)
  if status != 5 { fatalError("\(name): \(status)") }
}

@main struct Main {
  static func main() {
    // Dispatch's own thread for timers.
    let fired = DispatchSemaphore(value: 0)
    DispatchQueue.global().asyncAfter(deadline: .now() + 0.01) { fired.signal() }
    fired.wait()
    inChild("sleep") {
      Task.detached {
        try? await Task.sleep(for: .milliseconds(1500))
        _exit(5)
      }
    }

    // More blocks than threads.
    let stop = DispatchSemaphore(value: 0)
    for _ in 0..<300 { DispatchQueue.global().async { stop.wait() } }
    usleep(20_000)
    inChild("blocks") {
      Task.detached { DispatchQueue.global().async { _exit(5) } }
    }
    for _ in 0..<300 { stop.signal() }
    // CHECK: done
    print("done")
  }
}
