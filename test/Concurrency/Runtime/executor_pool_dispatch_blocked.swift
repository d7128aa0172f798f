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

/// DispatchSemaphore.wait is not available in asynchronous functions.
func wait(_ semaphore: DispatchSemaphore) { semaphore.wait() }

@main struct Main {
  static func main() async {
    let number = 600
    let semaphore = DispatchSemaphore(value: 0)
    let waiters = (0..<number).map { _ in Task.detached { wait(semaphore) } }
    signal(semaphore, number)
    for waiter in waiters { await waiter.value }
    // CHECK: all waiters
    print("all waiters")

    // Tasks that have suspended before wait for one block, while jobs of another class go on.
    let blocked = DispatchSemaphore(value: 0)
    let others = Task.detached(priority: .utility) {
      while !Task.isCancelled { try? await Task.sleep(nanoseconds: 200_000_000) }
    }
    let begun = (0..<300).map { _ in
      Task.detached {
        try? await Task.sleep(nanoseconds: 1_000_000)
        wait(blocked)
      }
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + 2) {
      for _ in 0..<300 { blocked.signal() }
    }
    for one in begun { await one.value }
    others.cancel()
    // CHECK: one block
    print("one block")

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
