// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=9 %target-run %t/a.out

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu
// A sanitizer does not support a fork in a process with several threads.
// UNSUPPORTED: asan, tsan
// Threads of Dispatch are not in the child of a fork.
// XFAIL: without_executor-dispatch

// In the child of a fork, blocks of Dispatch's global queues run on the pool's threads. What
// waited in the parent runs there, once, and in no child.

import Dispatch
import Glibc

let parent = getpid()
/// Blocks of the parent that a child has run.
let strangers = Counter()
let classes: [DispatchQoS.QoSClass] = [.background, .utility, .default, .userInitiated, .userInteractive]

/// Keeps blocks in all global queues, and blocks that are just being added.
func makeBusy(_ stop: Flag) {
  @Sendable func again(_ queue: DispatchQueue, _ owner: Int32) {
    queue.async {
      if getpid() != owner { strangers.add() }
      if !stop.isSet { again(queue, owner) }
    }
  }
  for _ in 0..<20 {
    for qos in classes { again(.global(qos: qos), parent) }
  }
  pthread_detach(startThread {
    while !stop.isSet {
      for qos in classes {
        DispatchQueue.global(qos: qos).async { if getpid() != parent { strangers.add() } }
      }
      usleep(20)
    }
  })
}

/// By the thread that has forked: the status of the child.
func useBlocks() -> Int32 {
  let ran = Counter(), group = DispatchGroup()
  for qos in classes {
    for _ in 0..<100 {
      DispatchQueue.global(qos: qos).async(group: group) {
        ran.add()
        DispatchQueue.global(qos: qos).async(group: group) { ran.add() }
      }
    }
  }
  group.wait()
  runBlocking {
    for qos in classes {
      await withUnsafeContinuation { own in DispatchQueue.global(qos: qos).async { own.resume() } }
    }
  }
  return ran.count != 1000 ? 6 : strangers.count > 0 ? 7 : 5
}

/// Children do this, one after the other, until one cannot; each has half a minute.
func useBlocksInChildren(_ count: Int, _ what: String) {
  for _ in 0..<count where failures.count == 0 {
    let child = forkProcess()
    if child == 0 {
      watch(what, 30)
      exit(useBlocks())
    }
    let status = waitForChild(child)
    expect(status == 5, "\(what): status \(status)")
  }
}

@main struct Main {
  static func main() {
    // What is done once is done before a fork.
    expect(useBlocks() == 5, "this process cannot use blocks")
    usleep(100_000)
    Row.run([
      Row(name: "idle") { useBlocksInChildren(20, "a child of an idle process") },
      Row(name: "busy", seconds: 120) {
        let stop = Flag()
        makeBusy(stop)
        useBlocksInChildren(50, "a child of a busy process")
        stop.set()
        // The parent goes on.
        expect(useBlocks() == 5, "the parent cannot use blocks")
      },
      // This thread is the pool's own, and has the queue.
      Row(name: "in a block") {
        let stop = Flag()
        makeBusy(stop)
        for _ in 0..<20 where failures.count == 0 {
          let end = DispatchSemaphore(value: 0)
          DispatchQueue.global().async {
            useBlocksInChildren(1, "a child of a block")
            end.signal()
          }
          end.wait()
        }
        stop.set()
      },
      // What waits runs once, in the parent.
      Row(name: "once") {
        let count = 2000
        let ran = sharedNumbers(Int32(count))!, begun = Counter()
        for number in 0..<count {
          nonisolated(unsafe) let place = ran + number
          DispatchQueue.global(qos: classes[number % classes.count]).async {
            compute(5000)
            addToShared(place, 1)
            begun.add()
          }
          if number % 100 == 99 { useBlocksInChildren(1, "a child") }
        }
        wait(for: "all blocks of the parent") { begun.count == count }
        for number in 0..<count where ran[number] != 1 {
          fail("block \(number) has run \(ran[number]) times")
        }
      },
    ])
  }
}
