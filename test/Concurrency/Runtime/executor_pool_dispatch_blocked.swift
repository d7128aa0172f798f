// RUN: %empty-directory(%t)
// RUN: %target-build-swift -target %target-future-triple -parse-as-library %import-libdispatch %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=2 %target-run %t/a.out 2>/dev/null | %FileCheck %s
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out | %FileCheck %s

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu

// Tasks that block all threads of the pool wait for a block: Dispatch has a thread for it.

import Dispatch

/// Wakes one waiter, and leaves the others to the next block.
@Sendable func signal(_ semaphore: DispatchSemaphore, _ left: Int) {
  guard left > 0 else { return }
  DispatchQueue.global().async {
    semaphore.signal()
    signal(semaphore, left - 1)
  }
}

@main struct Main {
  static func main() async {
    let number = 600
    let semaphore = DispatchSemaphore(value: 0)
    let waiters = (0..<number).map { _ in Task.detached { semaphore.wait() } }
    signal(semaphore, number)
    for waiter in waiters { await waiter.value }
    // CHECK: all waiters
    print("all waiters")

    // Blocks and tasks go on as ever.
    let blocks = 1_000
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<blocks {
        group.addTask {
          await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume() }
          }
        }
      }
    }
    // CHECK: all blocks
    print("all blocks")
  }
}
