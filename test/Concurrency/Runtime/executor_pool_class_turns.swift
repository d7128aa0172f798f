// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// It compares shares of time.
// UNSUPPORTED: asan, tsan, runtime_chaos
// REQUIRES: OS=linux-gnu
// XFAIL: without_executor-class-turns && !without_executor-pool

// High, default and background jobs of 2 ms wait all the time, and other threads have most of the processors: the
// high ones get as many turns as the others.

import Dispatch
import Glibc
import Synchronization

/// Tasks that compute for 2 ms again and again, and yield in between.
final class Tasks: Sendable {
  let turns = Counter(), running = Counter(), ended = Flag()

  init(_ priority: TaskPriority) {
    for _ in 0..<3 * max(width, processors) {
      running.add()
      Task.detached(priority: priority) { [self] in
        while !ended.isSet {
          turns.add()
          compute(2_000_000)
          await Task.yield()
        }
        running.add(-1)
      }
    }
  }

  func end() {
    ended.set()
    wait(for: "the end of tasks") { running.count == 0 }
  }
}

/// The part of the turns that high jobs get, of all turns in two seconds.
func shareOfHigh() -> Double {
  let all = [TaskPriority.high, .medium, .background].map(Tasks.init)
  for tasks in all { wait(for: "a turn") { tasks.turns.count > 0 } }
  let before = all.map(\.turns.count)
  usleep(2_000_000)
  let turns = zip(all, before).map { Double($0.turns.count - $1) }
  for tasks in all { tasks.end() }
  let sum = turns.reduce(0, +)
  print("shares: \(turns.map { $0 / sum })")
  return turns[0] / sum
}

@main struct Main {
  static func main() {
    Row.run([
      Row(name: "turns") {
        let shares = besideThreads { (0..<3).map { _ in shareOfHigh() }.sorted() }
        if shares[1] < 0.28 { tooSlow.add() }
      },
    ])
  }
}
