// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// REQUIRES: foundation
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// XFAIL: without_main-actor-main-thread

// A job of the main actor may run the main run loop, after an await, too: it is on the
// thread that this belongs to. As on Apple's platforms, the loop has its timers, and what
// the main actor and the main queue have to do waits until it ends.

import Foundation

@MainActor var hasRun = false
@MainActor var fired = 0

@MainActor func runLoop() {
  let timer = Timer(timeInterval: 0.002, repeats: true) { _ in
    precondition(Thread.isMainThread)
    MainActor.assumeIsolated {
      precondition(!hasRun)
      fired += 1
    }
  }
  RunLoop.main.add(timer, forMode: .default)
  while fired < 5 {
    precondition(RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.02)))
  }
  timer.invalidate()
}

@main struct Main {
  @MainActor static func main() async {
    alarm(60)
    for _ in 0..<3 { try? await Task.sleep(nanoseconds: 1_000_000) }
    let job = Task { @MainActor in
      precondition(fired >= 5)
      hasRun = true
    }
    runLoop()
    await job.value
    precondition(hasRun && Thread.isMainThread)
    // CHECK: done
    print("done")
  }
}
