// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out sleeps
// RUN: %if !without_executor-rescue %{ env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out stand-in %}
// RUN: %if !without_executor-dispatch %{ env %env-SWIFT_POOL=1 %target-run %t/a.out main-sync %}

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// A sanitizer has threads and locks of its own, which a child does not get back.
// UNSUPPORTED: asan, tsan
// Without it, the child waits for ever for threads that only its parent has.
// UNSUPPORTED: without_executor-fork

// A process forks while its other threads are anywhere in the runtime. The child does not wait for what they have, such as
// locks.

import Dispatch
import Glibc

let ended = Counter()

/// The child has to end with 5.
func checkChild(_ child: Int32, _ what: String) {
  let status = waitForChild(child)
  expect(status == 5, "\(what): \(status)")
}

/// Sleepers of the parent are cancelled in the child while other threads go to sleep and wake.
func sleeps() {
  let sleepers = (0..<100).map { _ in
    Task.detached {
      try? await Task.sleep(nanoseconds: 600_000_000_000)
      ended.add()
    }
  }
  for _ in 0..<200 {
    Task.detached { while true { try await Task.sleep(nanoseconds: 100_000) } }
  }
  usleep(100_000)
  for round in 0..<200 where isAllRight {
    let child = forkProcess()
    if child == 0 {
      alarm(30)
      for sleeper in sleepers { sleeper.cancel() }
      wait(for: "the end of sleepers") { ended.count == sleepers.count }
      _exit(5)
    }
    checkChild(child, "round \(round)")
  }
}

/// A job on a thread that was added for a blocked one forks. That thread is the first one of the child, and must stay.
func standIn() {
  let isBlocked = Flag(), mayEnd = Flag()
  Task.detached {
    isBlocked.set()
    while !mayEnd.isSet { usleep(10_000) }
  }
  wait(for: "a job that blocks") { isBlocked.isSet }
  Task.detached {
    let child = forkProcess()
    if child == 0 {
      alarm(30)
      try? await Task.sleep(nanoseconds: 1_500_000_000)
      var text = [CChar](repeating: 0, count: 4096)
      _exit(readlink("/proc/self/exe", &text, text.count) > 0 ? 5 : 6)
    }
    checkChild(child, "stand-in")
    ended.add()
  }
  wait(for: "the end of the child") { ended.count == 1 }
  mayEnd.set()
}

/// Threads of the parent wait in DispatchQueue.main.sync(). Their blocks are not the child's.
@MainActor func mainSync() async {
  for _ in 0..<2 { _ = startThread { while true { DispatchQueue.main.sync { _ = ended.add() } } } }
  for round in 0..<300 where isAllRight {
    await Task.detached {}.value
    let child = forkProcess()
    if child == 0 {
      alarm(30)
      let before = ended.count
      for _ in 0..<3 { await Task.detached {}.value }
      _exit(ended.count == before ? 5 : 6)
    }
    checkChild(child, "round \(round)")
  }
}

@main struct Main {
  @MainActor static func main() async {
    alarm(120)
    switch CommandLine.arguments[1] {
    case "sleeps": sleeps()
    case "stand-in": standIn()
    case "main-sync": await mainSync()
    default: fatalError()
    }
    exit(isAllRight ? 0 : 1)
  }
}
