// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -target %target-future-triple -parse-as-library %import-libdispatch %s %S/Inputs/ThreadName.swift -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env -u SWIFT_POOL %target-run %t/a.out pool
// RUN: env -u SWIFT_POOL %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out pool
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu
// XFAIL: without_executor-default

// A program uses Dispatch's global queues before its first task. The threads that Dispatch has made
// for them by then end the block that they run, and leave the others to the pool, though blocks
// come without a pause. No block is lost on the way. (With SWIFT_POOL=1 the pool is there first.)

import Dispatch
import Glibc
import Synchronization

let hasPool = CommandLine.arguments.contains("pool")
let mayEnd = Atomic(false)
let isCounted = Atomic(false)
let inPool = Atomic(0), elsewhere = Atomic(0)

/// Blocks that each add the next one, until all may end. Those count that are added when all may.
func runChain(_ queue: DispatchQueue, _ end: DispatchGroup) {
  let counts = isCounted.load(ordering: .acquiring)
  queue.async {
    if counts {
      if threadName().hasPrefix("swift-pool-") {
        inPool.add(1, ordering: .relaxed)
      } else {
        elsewhere.add(1, ordering: .relaxed)
      }
    }
    if mayEnd.load(ordering: .acquiring) {
      end.leave()
    } else {
      runChain(queue, end)
    }
  }
}

@main struct Main {
  static func main() {
    let end = DispatchGroup(), blocked = DispatchGroup()
    let gate = DispatchSemaphore(value: 0)
    let classes: [DispatchQoS.QoSClass] = [.background, .utility, .default, .userInitiated]
    for qos in classes {
      let queue = DispatchQueue.global(qos: qos)
      for _ in 0..<8 {
        end.enter()
        runChain(queue, end)
      }
      // These are in the way when the first task comes.
      for _ in 0..<4 {
        queue.async(group: blocked) { gate.wait() }
      }
    }
    usleep(50_000)

    let hasBegun = DispatchSemaphore(value: 0)
    Task.detached { hasBegun.signal() }
    hasBegun.wait()
    for _ in 0..<4 * classes.count { gate.signal() }
    blocked.wait()

    isCounted.store(true, ordering: .releasing)
    for _ in 0..<1000 where inPool.load(ordering: .relaxed) + elsewhere.load(ordering: .relaxed) < 1000 {
      usleep(10_000)
    }
    mayEnd.store(true, ordering: .releasing)
    precondition(end.wait(timeout: .now() + 60) == .success, "a block is lost")
    let counts = (inPool.load(ordering: .relaxed), elsewhere.load(ordering: .relaxed))
    precondition(counts.0 + counts.1 >= 1000, "\(counts)")
    precondition(hasPool ? counts.1 == 0 : counts.0 == 0, "\(counts)")
  }
}
