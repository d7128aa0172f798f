// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// 100,000 children take longer than the limit with chaos's delays.
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out actor
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out actor
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out %if runtime_chaos %{"-tasks, crowded"%}

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu
// With several threads the order of tasks is not defined.
// UNSUPPORTED: without_executor-pool
// The row of priorities.
// XFAIL: without_executor-priorities

// The orders that programs see: of tasks that one task or one thread makes, and of those that
// give way, if the executor has one thread; and of calls that one task sends to an actor.

import Dispatch
import Glibc
import Synchronization

let log = Mutex<[Int]>([])
let noted = Atomic(0)

/// Waits until so many have been noted. It does not take the lock meanwhile: a job that waits
/// for it would be blocked, and another thread would stand in.
func takeLog(_ name: String, _ count: Int) -> [Int] {
  wait(for: "the end of \(name)") { noted.load(ordering: .acquiring) >= count }
  noted.store(0, ordering: .relaxed)
  return log.withLock { log in
    defer { log = [] }
    return log
  }
}

/// mostly: another thread may stand in for one that waits for malloc's lock.
func expectOrder(_ name: String, _ count: Int, mostly: Bool = false) {
  let seen = takeLog(name, count)
  if let wrong = seen.indices.first(where: { seen[$0] != $0 }) {
    let text = "\(name): \(seen[wrong]) came at place \(wrong) of \(count)"
    if mostly { expectMostly(false, text) } else { fail(text) }
  }
  expect(seen.count == count, "\(name): \(seen.count) of \(count) ran")
}

func note(_ number: Int) {
  log.withLock { $0.append(number) }
  noted.add(1, ordering: .releasing)
}

/// For an order that the executor keeps only while its thread gets a processor: one attempt of
/// 100 has to show it. `body` returns what was wrong.
func oftenEnough(_ name: String, _ body: () -> String?) {
  var fault: String?
  for _ in 1...100 {
    fault = body()
    if fault == nil { return }
    // Threads that were added end meanwhile.
    usleep(10_000)
  }
  fail("\(name), in each of 100 attempts; in the last one \(fault!)")
}

actor Receiver {
  var last = -1
  func receive(_ number: Int) {
    expect(last == number - 1, "the actor got \(number) after \(last)")
    last = number
  }
}

@main struct Main {
  static func main() {
    Row.run([
      // 1,000 tasks, made by one: they begin in the order in which they are made.
      Row(name: "tasks") {
        runBlocking { for number in 0..<1000 { Task { note(number) } } }
        expectOrder("1,000 tasks", 1000)
        runBlocking { for number in 0..<1000 { Task.detached { note(number) } } }
        expectOrder("1,000 detached tasks", 1000)
        for count in [10, 1000, 100_000] {
          runBlocking {
            await withTaskGroup(of: Void.self) { group in
              for number in 0..<count { group.addTask { note(number) } }
            }
          }
          expectOrder("\(count) children", count)
        }
      },
      // The same while the thread gets its processor seldom: what it has taken of the many that wait is
      // left to others, and keeps its place.
      Row(name: "tasks, crowded") {
        besideThreads {
          runBlocking {
            await withTaskGroup(of: Void.self) { group in
              for number in 0..<100_000 { group.addTask { note(number) } }
            }
          }
        }
        expectOrder("100,000 children beside threads that compute", 100_000)
      },
      // The maker suspends in between, and is resumed.
      Row(name: "suspending maker") {
        runBlocking {
          for number in 0..<1000 {
            Task { note(number) }
            if number % 7 == 0 { await Task.yield() }
            if number % 11 == 0 { await Task {}.value }
          }
        }
        expectOrder("1,000 tasks of one that suspends", 1000)
      },
      // Made by a thread that is not the executor's.
      Row(name: "foreign") {
        for number in 0..<1000 { Task.detached { note(number) } }
        expectOrder("1,000 tasks of a thread", 1000, mostly: true)
      },
      // The high ones come first, and each priority keeps its order; but another thread is added
      // where the first high one finds the thread busy.
      Row(name: "priorities") {
        let priorities = [TaskPriority.background, .medium, .high]
        let all = 30 * priorities.count
        oftenEnough("tasks of all priorities") {
          runBlocking {
            for number in 0..<all {
              Task.detached(priority: priorities[number % 3]) { note(number) }
            }
          }
          let seen = takeLog("tasks of all priorities", all)
          if seen[0] % 3 != 2 { return "\(seen[0]) came first, and is not of the highest priority" }
          for (remainder, priority) in priorities.enumerated() {
            if seen.filter({ $0 % 3 == remainder }) != Array(stride(from: remainder, to: all, by: 3)) {
              return "those of \(priority) lost their order"
            }
          }
          return nil
        }
      },
      // A task that yields lets all others run once; but what waits behind a thread that gets no
      // processor for a millisecond is left to others.
      Row(name: "yield") {
        oftenEnough("100 tasks that yield") {
          runBlocking {
            await withTaskGroup(of: Void.self) { group in
              for number in 0..<100 {
                group.addTask {
                  for round in 0..<10 {
                    note(round * 100 + number)
                    await Task.yield()
                  }
                }
              }
            }
          }
          let seen = takeLog("100 tasks that yield", 1000)
          return seen.indices.first { seen[$0] != $0 }.map { "\(seen[$0]) came at place \($0)" }
        }
      },
      // Of many that yield, all begin before the first ones are through.
      Row(name: "begin") {
        let begun = Counter(), runs = Counter(), before = Counter()
        runBlocking {
          await withTaskGroup(of: Void.self) { group in
            for _ in 0..<1000 {
              group.addTask {
                if begun.add() == 1000 { before.add(runs.count) }
                for _ in 0..<100 {
                  runs.add()
                  await Task.yield()
                }
              }
            }
          }
        }
        expect(before.count < 50_000, "\(before.count) of 100,000 runs before the last one began")
      },
      // A thousand tasks that one job enqueues on an actor, which has them all before it runs.
      Row(name: "actor") {
        let receiver = Receiver()
        runBlocking {
          let tasks = (0..<1000).map { number in Task.immediate { await receiver.receive(number) } }
          for task in tasks { await task.value }
        }
      },
    ])
  }
}
