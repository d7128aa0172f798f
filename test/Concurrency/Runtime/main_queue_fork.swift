// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out %if !without_executor-dispatch %{in-a-task%} | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// UNSUPPORTED: without_main-actor-main-thread
// Without it, the child waits for ever for a timer of Dispatch, whose thread only its parent has.
// UNSUPPORTED: without_executor-timers

// The main actor forks, and goes on in the child and in that one's child: on the first
// thread, with tasks of the pool, and without a wake-up of the parent's.

import Dispatch
import Glibc

@MainActor func work() async {
  for _ in 0..<1000 {
    await Task.detached {}.value
    precondition(threadNumber() == getpid())
  }
  try? await Task.sleep(nanoseconds: 1_000_000)
  await withUnsafeContinuation { continuation in
    Task.detached { DispatchQueue.main.async { continuation.resume() } }
  }
  precondition(threadNumber() == getpid())
}

/// Forks on another thread than the first: then any thread may serve the main actor in the child, which has no idle
/// threads of Dispatch.
@Sendable func forkElsewhere() async {
  let serial = DispatchQueue(label: "serial")
  serial.async {}
  usleep(20_000)
  let child = forkProcess()
  if child == 0 {
    alarm(60)
    for _ in 0..<100 { await MainActor.run { MainActor.assertIsolated() } }
    await withUnsafeContinuation { continuation in DispatchQueue(label: "another").async { continuation.resume() } }
    exit(5)
  }
  let status = waitForChild(child)
  precondition(status == 5, "a task forks: \(status)")
}

/// How often threads of this process wait in the kernel while a task calls the main actor 10,000 times.
func waitsOfCalls() async -> Int {
  for _ in 0..<1000 { await MainActor.run {} }
  let before = waitsInKernel()
  for _ in 0..<10_000 { await MainActor.run {} }
  return waitsInKernel() - before
}

/// Forks while jobs of the main actor wait. Whether the first thread of the child waits for more of them before it
/// sleeps, as that of the parent does.
@MainActor func isQuickAfterFork() async -> Bool {
  let inParent = await Task.detached(operation: waitsOfCalls).value
  for _ in 0..<50 { Task.detached { await MainActor.run {} } }
  usleep(20_000)
  let child = forkProcess()
  if child == 0 {
    alarm(60)
    let inChild = await Task.detached(operation: waitsOfCalls).value
    exit(inChild <= 2 * inParent + 300 ? 5 : 6)
  }
  let status = waitForChild(child)
  precondition(status == 5 || status == 6, "\(status)")
  return status == 5
}

@main struct Main {
  @MainActor static func main() async {
    alarm(60)
    await work()
    if CommandLine.arguments.count > 1 {
      await Task.detached(operation: forkElsewhere).value
      // Other programs may keep its threads from the processors, but hardly each time.
      var isQuick = false
      for _ in 0..<10 where !isQuick { isQuick = await isQuickAfterFork() }
      precondition(isQuick, "the child waits in the kernel for each job of the main actor")
    }
    for generation in 1...3 {
      let child = forkProcess()
      if child == 0 {
        alarm(60)
        await work()
        if generation == 3 { exit(5) }
        continue
      }
      await work()
      let status = waitForChild(child)
      precondition(status == 5, "generation \(generation): \(status)")
      // CHECK: done
      if generation == 1 { print("done") }
      exit(generation == 1 ? 0 : 5)
    }
  }
}
