// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out "-jobs that block"
// Beside other tests, more workers come near to the most that the pool can have.
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=2 %target-run %t/a.out "jobs that block"
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=9 %target-run %t/a.out "-jobs that block"
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out blocks "blocks of a job"

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu
// XFAIL: without_executor-dispatch

// Blocks of a global queue do not wait for thousands of tasks that were there before, nor do tasks
// for a stream of blocks. To wait for all of them takes 16 seconds, and longer than any limit here.

import Dispatch
import Glibc
import Synchronization

let taskTime: UInt64 = 4_000_000, blockTime: UInt64 = 500_000
let many = 4000 * processors

/// Enqueues so many tasks that compute, from this thread.
func enqueueTasks(_ stop: Flag, _ group: DispatchGroup) {
  for _ in 0..<many {
    group.enter()
    Task.detached {
      if !stop.isSet { compute(taskTime) }
      group.leave()
    }
  }
}

/// How long each of 20 blocks waits that `add` adds, one after the other.
func waitsOfBlocks(_ add: (@escaping @Sendable () -> Void) -> Void) -> [UInt64] {
  (0..<20).map { _ in
    let begun = DispatchSemaphore(value: 0)
    return time {
      add { begun.signal() }
      begun.wait()
    }
  }
}

@main struct Main {
  static func main() {
    Row.run([
      Row(name: "blocks") {
        runBlocking {}
        let stop = Flag(), group = DispatchGroup()
        enqueueTasks(stop, group)
        judge("a block beside tasks", waitsOfBlocks { DispatchQueue.global().async(execute: $0) },
              median: 50, worst: 1000)
        let concurrent = DispatchQueue(label: "concurrent", attributes: .concurrent)
        judge("a barrier beside tasks", waitsOfBlocks { concurrent.async(flags: .barrier, execute: $0) },
              median: 50, worst: 1000)
        stop.set()
        group.wait()
      },
      // The block is behind thousands of tasks that the same job has made, and that it waits for.
      Row(name: "blocks of a job") {
        let stop = Flag(), group = DispatchGroup()
        let times = Mutex<[UInt64]>([])
        runBlocking {
          await withTaskGroup(of: Void.self) { children in
            for _ in 0..<many {
              children.addTask { if !stop.isSet { compute(taskTime) } }
            }
            for _ in 0..<5 {
              let start = nowInNanoseconds()
              group.enter()
              DispatchQueue.global().async {
                times.withLock { $0.append(nowInNanoseconds() - start) }
                group.leave()
              }
              group.wait()
            }
            stop.set()
          }
        }
        judge("a block that a job waits for", times.withLock { $0 }, median: 50, worst: 1000)
      },
      // Likewise behind some hundred, which are made before anybody looks whether the job goes on.
      Row(name: "blocks of a short job") {
        let times = Mutex<[UInt64]>([])
        for _ in 0..<9 {
          runBlocking {
            await withTaskGroup(of: Void.self) { children in
              for _ in 0..<200 { children.addTask { compute(1_000_000) } }
              let start = nowInNanoseconds(), ran = DispatchSemaphore(value: 0)
              DispatchQueue.global().async {
                times.withLock { $0.append(nowInNanoseconds() - start) }
                ran.signal()
              }
              ran.wait()
            }
          }
        }
        judge("a block that a short job waits for", times.withLock { $0 }, median: 20, worst: 1000)
      },
      // A worker has few tasks, and adds a block behind them. Those of other threads do not wait for the tasks.
      Row(name: "blocks behind few tasks") {
        let stop = Flag(), ended = DispatchGroup()
        @Sendable func goOn() {
          if stop.isSet { return ended.leave() }
          for _ in 0..<6 { Task.detached { compute(3_000_000) } }
          DispatchQueue.global().async {}
          Task.detached { goOn() }
        }
        runBlocking {}
        for _ in 0..<width {
          ended.enter()
          Task.detached { goOn() }
          usleep(20_000)
        }
        usleep(100_000)
        let times = Mutex<[UInt64]>([]), blocks = DispatchGroup()
        for _ in 0..<200 {
          usleep(5000)
          let start = nowInNanoseconds()
          DispatchQueue.global().async(group: blocks) {
            times.withLock { $0.append(nowInNanoseconds() - start) }
          }
        }
        blocks.wait()
        judge("a block behind few tasks", times.withLock { $0 }, median: 4.5, worst: 1000, fault: 1000)
        stop.set()
        ended.wait()
      },
      // More blocks than the pool has threads wait for a task that was there before. (With Dispatch's
      // own threads they wait for ever.)
      Row(name: "blocks that wait") {
        runBlocking {}
        let ran = DispatchSemaphore(value: 0), all = DispatchGroup()
        for _ in 0..<processors { Task.detached { compute(20_000_000) } }
        usleep(2000)
        Task.detached { for _ in 0..<600 { ran.signal() } }
        for _ in 0..<600 { DispatchQueue.global().async(group: all) { ran.wait() } }
        expect(all.wait(timeout: .now() + 50) == .success, "blocks wait for ever")
      },
      // What a blocked job waits for comes before less urgent blocks. Else all threads begin jobs that block.
      Row(name: "jobs that block") {
        runBlocking {}
        let stop = Flag(), ended = DispatchGroup(), most = Mutex(0)
        let watcher = startThread {
          while !stop.isSet {
            let count = Int(poolThreadCount())
            most.withLock { $0 = max($0, count) }
            usleep(500)
          }
        }
        for number in 0..<5000 {
          ended.enter()
          Task.detached(priority: .medium) {
            let ran = DispatchSemaphore(value: 0)
            Task.detached(priority: .medium) { ran.signal() }
            ran.wait()
            ended.leave()
          }
          if number % 100 == 0 { DispatchQueue.global(qos: .background).async { usleep(100) } }
        }
        ended.wait()
        stop.set()
        pthread_join(watcher, nil)
        let count = most.withLock { $0 }
        print("\(count) threads")
        expectMostly(count < 180 + 8 * width, "\(count) threads")
      },
      // A thread adds a block for each one that ends, so that none is the last.
      Row(name: "tasks beside a producer") {
        runBlocking {}
        let stop = Flag(), mayAdd = DispatchSemaphore(value: 4 * processors), all = DispatchGroup()
        let producer = startThread {
          while !stop.isSet {
            mayAdd.wait()
            DispatchQueue.global().async(group: all) {
              compute(5_000_000)
              mayAdd.signal()
            }
          }
        }
        judge("a task beside blocks of a producer", waits(nil, 40), median: 100, worst: 500)
        stop.set()
        pthread_join(producer, nil)
        all.wait()
      },
      Row(name: "tasks") {
        runBlocking {}
        let stop = Flag(), group = DispatchGroup()
        @Sendable func again() {
          compute(blockTime)
          stop.isSet ? group.leave() : DispatchQueue.global().async(execute: again)
        }
        for _ in 0..<16 * processors {
          group.enter()
          DispatchQueue.global().async(execute: again)
        }
        judge("a task beside blocks", waits(nil, 20), median: 200, worst: 5000)
        let groups = (0..<3).map { _ in
          time {
            runBlocking {
              await withTaskGroup(of: Void.self) { children in
                for _ in 0..<100 { children.addTask { compute(blockTime) } }
              }
            }
          }
        }
        judge("a group of 100 beside blocks", groups, median: 1000, worst: 10_000)
        stop.set()
        group.wait()
      },
    ])
  }
}
