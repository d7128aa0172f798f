// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out "less urgent" "more urgent"
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: without_executor-short-blocks
// With chaos's delays, jobs that compute seem to block.
// UNSUPPORTED: runtime_chaos

// Jobs that block for a short time, one after the other, do not keep processors idle while others
// wait: each class of priority gets as many threads as there are processors, as with Dispatch's
// queues, and jobs of one class get more. These threads end when all compute.

import Dispatch
import Glibc
import Synchronization

/// Tasks that do `work` in each of their jobs, until they are told to end.
final class Tasks: Sendable {
  let inside = Counter(), running = Counter(), ended = Flag()

  init(_ priority: TaskPriority, _ work: @escaping @Sendable () -> Void) {
    for _ in 0..<4 * width + 4 {
      running.add()
      Task.detached(priority: priority) { [self] in
        while !ended.isSet {
          inside.add()
          work()
          inside.add(-1)
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

/// How many of 100 samples, taken at intervals of a millisecond, it is true for.
func samples(_ condition: () -> Bool) -> Int {
  (0..<100).filter { _ in
    usleep(1000)
    return condition()
  }.count
}

/// Jobs of this class that block for 0.3 ms, beside default ones that compute. `count` samples
/// find enough of both at once.
func besideDefault(_ priority: TaskPriority, _ count: Int, _ areEnough: (Int, Int) -> Bool) {
  let blocking = Tasks(priority) { usleep(300) }
  let computing = Tasks(.medium) { compute(300_000) }
  wait(for: "more threads") {
    samples { areEnough(blocking.inside.count, computing.inside.count) } > count
  }
  blocking.end()
  // The others need no more threads than processors. (Where other programs run, a thread may wait
  // for malloc's lock while the one that has it gets no processor.)
  wait(for: "the end of threads") { samples { computing.inside.count > width } < min(50, 25 * Int(room)) }
  computing.end()
}

/// As many threads for both.
func ofAnotherClass(_ priority: TaskPriority) {
  besideDefault(priority, 75) { blocking, computing in blocking >= width && computing >= width }
}

@main struct Main {
  static func main() {
    Row.run([
      Row(name: "less urgent") { ofAnotherClass(.low) },
      Row(name: "more urgent") { ofAnotherClass(.high) },
      Row(name: "same class") {
        besideDefault(.medium, 50) { blocking, computing in blocking + computing > width }
      },
      Row(name: "alone") {
        let blocking = Tasks(.medium) { usleep(300) }
        wait(for: "more threads") { samples { blocking.inside.count > 2 * width } > 50 }
        blocking.end()
      },
    ])
  }
}
