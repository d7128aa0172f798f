// RUN: %empty-directory(%t)
// RUN: %target-build-swift -target %target-future-triple -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out | %FileCheck %s

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu

// There are several threads without it, so the order is another one now and then.
// UNSUPPORTED: without_executor-pool

// The order of jobs on one thread: new tasks in the order in which they are made, however
// many there are; who gives way comes after all of them; who is waited for comes first.

import Synchronization

final class Trace: Sendable {
  let entries = Mutex([Int]())
  func add(_ number: Int) { entries.withLock { $0.append(number) } }
  func take() -> [Int] { entries.withLock { swap in defer { swap = [] }; return swap } }
}
let trace = Trace()

func make(_ count: Int, from first: Int = 0) async {
  await withTaskGroup(of: Void.self) { group in
    for number in first..<first + count { group.addTask { trace.add(number) } }
  }
}

@main struct Main {
  static func main() async {
    await Task.detached {
      for count in [10, 1000, 100_000] {
        await make(count)
        // CHECK: 10 in order: true
        // CHECK: 1000 in order: true
        // CHECK: 100000 in order: true
        print(count, "in order:", trace.take() == Array(0..<count))
      }

      // Each priority in order, and the most urgent one first. (Children would get at
      // least the priority of this task, which the main task has escalated.)
      for number in 0..<900 {
        let priority = [TaskPriority.background, .medium, .high][number % 3]
        Task.detached(priority: priority) { trace.add(number) }
      }
      while trace.entries.withLock({ $0.count }) < 900 {
        try? await Task.sleep(for: .milliseconds(1))
      }
      let numbers = trace.take()
      for remainder in 0..<3 {
        // CHECK-COUNT-3: of one priority: true
        print("of one priority:", numbers.filter { $0 % 3 == remainder }
                == Array(stride(from: remainder, to: 900, by: 3)))
      }
      // CHECK: urgent ones first: true
      print("urgent ones first:", numbers.first! % 3 == 2)

      // A task that yields lets all others run once.
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<100 {
          group.addTask {
            for round in 0..<10 {
              trace.add(round * 100 + number)
              await Task.yield()
            }
          }
        }
      }
      // CHECK: round by round: true
      print("round by round:", trace.take() == Array(0..<1000))

      // Many that yield: none runs a hundred times before another has begun.
      let begun = Mutex((begun: 0, runs: 0, worst: 0))
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<1000 {
          group.addTask {
            begun.withLock { $0.begun += 1 }
            for _ in 0..<100 {
              begun.withLock {
                $0.runs += 1
                if $0.begun < 1000 { $0.worst = $0.runs }
              }
              await Task.yield()
            }
          }
        }
      }
      // CHECK: all begin: true
      print("all begin:", begun.withLock { $0.worst } < 50_000)
    }.value
  }
}
