// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=7 %target-run %t/a.out

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

/// Blocks the thread until `body` has run in a task.
func bridge(_ body: @escaping @Sendable () async -> Void) {
  let ended = DispatchSemaphore(value: 0)
  Task.detached {
    await body()
    ended.signal()
  }
  ended.wait()
}

/// A row: `count` jobs bridge to `body`. `inside`: a job of the pool makes them.
func row(_ name: String, _ count: Int, inside: Bool = false, priority: TaskPriority? = nil,
         _ body: @escaping @Sendable () async -> Void) -> Row {
  Row(name: name, seconds: 120) {
    let ended = Counter()
    @Sendable func makeAll() {
      for _ in 0..<count {
        Task.detached(priority: priority) {
          bridge(body)
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

@main struct Main {
  static func main() {
    Row.run([
      row("yields", 2000) { for _ in 0..<10 { await Task.yield() } },
      row("yields, made by a job", 2000, inside: true) { for _ in 0..<10 { await Task.yield() } },
      row("sleeps", 2000) { try? await Task.sleep(nanoseconds: 1_000_000) },
      row("sleeps, made by a job", 2000, inside: true) { try? await Task.sleep(nanoseconds: 1_000_000) },
      row("sleeps, urgent", 1000, priority: .high) { try? await Task.sleep(nanoseconds: 1_000_000) },
      row("a child", 2000) { await Task.detached {}.value },
      row("a group", 2000) {
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<4 { group.addTask { usleep(10) } }
        }
      },
      row("an actor", 2000) { for _ in 0..<10 { await account.call() } },
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
      row("10,000", 10_000) { try? await Task.sleep(nanoseconds: 100_000) },
    ])
  }
}
