// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=16 %target-run %t/a.out order "at once"

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu

// Without it, the task waits until background jobs have their turn.
// XFAIL: without_executor-escalation

// A task that waits in a queue goes before others when a more urgent one awaits it.

import Dispatch
import Glibc
import Synchronization

@main struct Main {
  static func main() {
    Row.run([
      // Beside jobs that take all the time that there is. With the pool, background jobs have a
      // turn after a millisecond, each after those before it.
      Row(name: "beside busy ones", seconds: 120) {
        let stop = Flag()
        for _ in 0..<4 * processors {
          Task.detached(priority: .medium) {
            while !stop.isSet {
              compute(50_000)
              await Task.yield()
            }
          }
        }
        let times = Mutex<[UInt64]>([])
        runBlocking(.high) {
          for _ in 0..<50 {
            let others = (0..<20).map { _ in Task.detached(priority: .background) { compute(500_000) } }
            let start = nowInNanoseconds()
            await Task.detached(priority: .background) {}.value
            times.withLock { $0.append(nowInNanoseconds() - start) }
            withExtendedLifetime(others) {}
          }
        }
        stop.set()
        if getenv("SWIFT_POOL").map({ String(cString: $0) }) == "1" {
          judge("high awaits background", times.withLock { $0 }, median: 0.5, worst: 1000)
        }
      },
      // Wherever it waits: at the beginning of a list, in the middle or at the end; in the queue of
      // a worker, or in that of other threads. All run once, also those that are not found.
      Row(name: "order", seconds: 120) {
        for count in [1, 2, 3, 100, 255, 256, 257, 3000] {
          for isFromOutside in [true, false] {
            let ran = Counter()
            @Sendable func make() -> [Task<Void, Never>] {
              (0..<count).map { _ in Task.detached(priority: .background) { _ = ran.add() } }
            }
            let outside = isFromOutside ? make() : []
            runBlocking(.high) {
              let tasks = isFromOutside ? outside : make()
              for place in [count / 2, 0, count - 1] { await tasks[place].value }
              for task in tasks.reversed() { await task.value }
            }
            expect(ran.count == count, "\(ran.count) of \(count) ran")
          }
        }
      },
      // One of the tasks that a worker has taken from the queue of other threads. Afterwards nobody
      // looks for jobs that are not there.
      Row(name: "idle afterwards", seconds: 120) {
        for place in 3..<23 {
          let tasks = (0..<64).map { _ in Task.detached(priority: .utility) { compute(200_000) } }
          compute(300_000)
          runBlocking(.high) { await tasks[place].value }
          runBlocking(.utility) { for task in tasks { await task.value } }
          usleep(100_000)
          let before = waitsInKernel()
          usleep(100_000)
          let count = waitsInKernel() - before
          expect(count < 200, "threads waited \(count) times in the kernel within 0.1 s")
        }
      },
      // Several escalate the same tasks, while these begin, suspend and end.
      Row(name: "at once", seconds: 120) {
        for _ in 0..<200 {
          runBlocking {
            let tasks = (0..<20).map { _ in
              Task.detached(priority: .background) {
                await Task.yield()
                await Task.detached(priority: .background) {}.value
              }
            }
            await withTaskGroup(of: Void.self) { group in
              for priority in [TaskPriority.high, .medium, .low, .userInitiated] {
                group.addTask(priority: priority) { for task in tasks.reversed() { await task.value } }
              }
            }
          }
        }
      },
    ])
  }
}
