// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-hooks.c -o %t/hooks.o
// RUN: cat %S/Inputs/executor-pool-support.h %S/Inputs/executor-pool-hooks.h > %t/bridging.h
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %t/bridging.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o %t/hooks.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out before
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out before
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out after
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out after
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out executors blocks priorities
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out executors blocks priorities
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out executors blocks priorities
// RUN: not --crash env %env-SWIFT_POOL=0 %target-run %t/a.out 255 2>&1 | %FileCheck %s
// RUN: not --crash env %env-SWIFT_POOL=1 %target-run %t/a.out 255 2>&1 | %FileCheck %s
// CHECK: invalid job priority 0xff

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu

// What stands between a job and the global executor goes on to work: the hook, set before
// and after the first job; task executors and serial executors; and jobs of any priority.

import Dispatch
import Glibc
import Synchronization

/// Jobs of all kinds, which come to the global executor.
func enqueueSome() {
  runBlocking {
    await Task.yield()
    await Task {}.value
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<10 { group.addTask {} }
    }
    await withUnsafeContinuation { own in pthread_detach(startThread { own.resume() }) }
    try? await Task.sleep(for: .milliseconds(1))
  }
}

/// All that the hook must see: 1 + 1 + 1 + 10 jobs, and what is resumed. A task that finds the
/// result there need not be resumed.
func expectHook() {
  let before = hookSeen()
  hookCount()
  enqueueSome()
  let seen = hookSeen() - before
  expect(seen >= 13, "the hook saw \(seen) jobs")

  // What the hook keeps does not run.
  hookHold()
  let ran = Counter()
  for number in 0..<500 {
    Task.detached(priority: [.high, .medium, .background][number % 3]) { ran.add() }
  }
  usleep(20_000)
  expect(ran.count == 0, "\(ran.count) jobs ran which the hook has kept")
  hookRemove()
  expect(hookRelease() == 500, "the hook has not kept 500")
  wait(for: "what the hook has kept") { ran.count == 500 }

  let after = hookSeen()
  enqueueSome()
  expect(hookSeen() == after, "a hook that was removed saw \(hookSeen() - after) jobs")
}

/// Runs jobs at once, on the thread that enqueues them.
final class InPlace: TaskExecutor, SerialExecutor {
  let count = Counter()
  func enqueue(_ job: consuming ExecutorJob) {
    count.add()
    UnownedJob(job).runSynchronously(on: self.asUnownedTaskExecutor())
  }
}

/// Runs jobs on a thread of its own.
final class OnThread: TaskExecutor {
  let count = Counter()
  func enqueue(_ job: consuming ExecutorJob) {
    count.add()
    let job = UnownedJob(job)
    pthread_detach(startThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) })
  }
}

@main struct Main {
  static func main() {
    Row.run([
      Row(name: "before") { if CommandLine.arguments.contains("before") { expectHook() } },
      Row(name: "after") {
        enqueueSome()
        expectHook()
        expectHook()
      },
      Row(name: "executors") {
        let inPlace = InPlace()
        let onThread = OnThread()
        for _ in 0..<100 {
          runBlocking {
            await Task(executorPreference: inPlace) {
              await Task.yield()
              await withTaskGroup(of: Void.self) { group in
                for _ in 0..<5 { group.addTask {} }
              }
              await Task(executorPreference: globalConcurrentExecutor) { await Task.yield() }.value
            }.value
            await withTaskExecutorPreference(onThread) {
              async let one: Void = Task.yield()
              async let two: Void = Task.yield()
              _ = await (one, two)
            }
          }
        }
        expect(inPlace.count.count >= 600, "an executor saw \(inPlace.count.count) jobs")
        expect(onThread.count.count >= 200, "an executor saw \(onThread.count.count) jobs")
      },
      // A hook blocks when a sleeping task is resumed: other jobs go on.
      Row(name: "blocks") {
        let ended = DispatchSemaphore(value: 0)
        let began = nowInNanoseconds()
        Task.detached {
          try? await Task.sleep(for: .milliseconds(300))
          ended.signal()
        }
        usleep(100_000)
        hookBlock()
        // Too late: the sleeper may have been resumed.
        if nowInNanoseconds() - began > 280_000_000 {
          hookRemove()
          ended.wait()
          tooSlow.add()
          return
        }
        wait(for: "the hook") { hookIsBlocking() != 0 }
        expect(nowInNanoseconds() - began >= 300_000_000, "another job came to the hook")
        judge("while a hook blocks", waits(nil, 20), median: 5, worst: 500, fault: 1000)
        ended.wait()
        hookRemove()
      },
      // Every priority that a job can have. Those above that of user interaction end the
      // process, with or without a pool.
      Row(name: "priorities") {
        let ran = Mutex<[Int]>(Array(repeating: 0, count: 0x22))
        for round in 0..<4 {
          for raw in 0...0x21 {
            let body: @Sendable () async -> Void = {
              let seen = Int(Task.currentPriority.rawValue)
              // 0 stands for none: the runtime chooses one.
              if raw != 0 { expect(seen == raw, "priority \(raw) became \(seen)") }
              await Task.yield()
              ran.withLock { $0[raw] += 1 }
            }
            if round % 2 == 0 {
              Task.detached(priority: TaskPriority(rawValue: UInt8(raw)), operation: body)
            } else {
              runBlocking { Task.detached(priority: TaskPriority(rawValue: UInt8(raw)), operation: body) }
            }
          }
        }
        wait(for: "all priorities") { ran.withLock { $0.allSatisfy { $0 == 4 } } }
      },
      Row(name: "255") {
        guard CommandLine.arguments.contains("255") else { return }
        Task.detached(priority: TaskPriority(rawValue: 255)) {}
        usleep(100_000)
      },
    ])
  }
}
