// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// With chaos's delays, jobs with ten hops take minutes beside other programs: there are fewer of them.
// RUN: %target-build-swift -O %if runtime_chaos %{-D CHAOS%} -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL_WIDTH=7 %target-run %t/a.out

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu

// With Dispatch's queues as many as there are processors hang, and without this patch 300.
// UNSUPPORTED: without_executor-rescue
// UNSUPPORTED: without_executor-rescue-begun

// Many more jobs than there may be threads each block until a task of their own has ended, as
// synchronous functions do that call asynchronous ones. Before it ends, the task suspends.

import Dispatch
import Glibc
import Synchronization

/// Blocks the thread until `body` has run in a task, which may begin here.
func bridge(priority: TaskPriority? = nil, immediately: Bool = false,
            _ body: @escaping @Sendable () async -> Void) {
  let ended = DispatchSemaphore(value: 0)
  let operation: @Sendable () async -> Void = {
    await body()
    ended.signal()
  }
  if immediately {
    Task.immediateDetached(priority: priority, operation: operation)
  } else {
    Task.detached(priority: priority, operation: operation)
  }
  ended.wait()
}

@Sendable func pause() async { try? await Task.sleep(nanoseconds: 1_000_000) }

/// A row: `count` jobs bridge to `body`. `inside`: a job of the pool makes them.
func row(_ name: String, _ count: Int, inside: Bool = false, priority: TaskPriority? = nil,
         _ body: @escaping @Sendable () async -> Void) -> Row {
  row(name, count, inside: inside, priority: priority, blocking: { bridge(body) })
}

/// The same with jobs that run `block`.
func row(_ name: String, _ count: Int, inside: Bool = false, priority: TaskPriority? = nil,
         blocking block: @escaping @Sendable () -> Void) -> Row {
  Row(name: name, seconds: 120) {
    let ended = Counter()
    @Sendable func makeAll() {
      for _ in 0..<count {
        Task.detached(priority: priority) {
          block()
          ended.add()
        }
      }
    }
    let taken = time {
      if inside { Task.detached { makeAll() } } else { makeAll() }
      wait(for: "the end of \(count) jobs") { ended.count == count }
    }
    judge(name, [taken], median: 30_000, worst: 30_000)
  }
}

/// Resumes what waits from a thread of Dispatch, as the end of an I/O does.
func fromOutside() async {
  await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
    DispatchQueue(label: "outside").asyncAfter(deadline: .now() + 0.001) { continuation.resume() }
  }
}

actor Account {
  var calls = 0
  func call() { calls += 1 }
}
let account = Account()

@globalActor actor Background { static let shared = Background() }

/// The task begins on an actor, and goes on in the pool.
func bridgeFromActor() {
  let ended = DispatchSemaphore(value: 0)
  Task { @Background in
    await pause()
    ended.signal()
  }
  ended.wait()
}

/// The first child of a group waits for the second one.
@Sendable func waitForSibling() async {
  let gate = DispatchSemaphore(value: 0)
  await withTaskGroup(of: Void.self) { group in
    group.addTask { waitFor(gate) }
    group.addTask { gate.signal() }
  }
}

/// Jobs of one class wait for jobs of another one, which come when they have all threads, and block for some time.
let otherClass = Row(name: "another class", seconds: 120) {
  let gate = DispatchSemaphore(value: 0)
  let begun = Counter(), ended = Counter()
  for _ in 0..<300 {
    Task.detached(priority: .high) {
      begun.add()
      waitFor(gate)
      ended.add()
    }
  }
  wait(for: "all threads") { begun.count >= 256 }
  let taken = time {
    for _ in 0..<5 {
      let slept = Flag()
      Task.detached(priority: .background) {
        usleep(100_000)
        slept.set()
      }
      wait(for: "a job of another class") { slept.isSet }
      usleep(100_000)
    }
    Task.detached(priority: .background) { for _ in 0..<300 { gate.signal() } }
    wait(for: "the end of 300 jobs") { ended.count == 300 }
  }
  judge("another class", [taken], median: 5_000, worst: 5_000)
}

/// Tasks that have begun wait for the last one of them, while jobs have all threads.
let begunOnes = Row(name: "tasks that have begun", seconds: 120) {
  let gate = DispatchSemaphore(value: 0), block = DispatchSemaphore(value: 0)
  let begun = Counter(), ended = Counter()
  for index in 0..<9 {
    Task.detached {
      try? await Task.sleep(nanoseconds: 500_000_000)
      if index == 8 {
        for _ in 0..<8 { gate.signal() }
      } else {
        waitFor(gate)
      }
      ended.add()
    }
  }
  for _ in 0..<300 {
    Task.detached {
      begun.add()
      waitFor(block)
    }
  }
  let taken = time { wait(for: "the end of 9 tasks") { ended.count == 9 } }
  for _ in 0..<300 { block.signal() }
  wait(for: "the others") { begun.count == 300 }
  judge("tasks that have begun", [taken], median: 20_000, worst: 20_000)
}

#if CHAOS
let jobsWithHops = 600
#else
let jobsWithHops = 2000
#endif

@main struct Main {
  static func main() {
    Row.run([
      row("yields", jobsWithHops) { for _ in 0..<10 { await Task.yield() } },
      row("yields, made by a job", jobsWithHops, inside: true) { for _ in 0..<10 { await Task.yield() } },
      row("sleeps", 2000, pause),
      row("sleeps, made by a job", 2000, inside: true, pause),
      row("sleeps, urgent", 1000, priority: .high, pause),
      row("a child", 2000) { await Task.detached {}.value },
      row("a group", 2000) {
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<4 { group.addTask { usleep(10) } }
        }
      },
      row("an actor", jobsWithHops) { for _ in 0..<10 { await account.call() } },
      row("from outside", 1000) { await fromOutside() },
      row("a tree", 500) {
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<4 {
            group.addTask {
              await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { await Task.yield() } }
              }
            }
          }
        }
      },
      row("a bridge in it", 1000) {
        await Task.yield()
        bridge {}
      },
      row("two bridges", 600) {
        await pause()
        bridge(pause)
      },
      row("three bridges", 600) {
        await pause()
        bridge {
          await pause()
          bridge(pause)
        }
      },
      row("two bridges, priorities", 600, priority: .high) {
        await pause()
        bridge(priority: .background, pause)
      },
      row("a sibling", 600, waitForSibling),
      row("immediate tasks", 600, blocking: { bridge(immediately: true, pause) }),
      row("from an actor", 600, blocking: bridgeFromActor),
      otherClass,
      begunOnes,
      // A thread has run the job of a blocked one for long, and been idle since.
      Row(name: "after idleness") {
        let ended = DispatchSemaphore(value: 0), stop = Flag()
        Task.detached {
          bridge { usleep(20_000) }
          ended.signal()
        }
        ended.wait()
        sleep(3)
        for _ in 0..<width { Task.detached { while !stop.isSet { await Task.yield() } } }
        judge("a bridge after idleness", [
          time {
            Task.detached {
              bridge {}
              ended.signal()
            }
            ended.wait()
          }
        ], median: 500, worst: 500)
        stop.set()
      },
      row("10,000", 10_000) { try? await Task.sleep(nanoseconds: 100_000) },
    ])
  }
}
