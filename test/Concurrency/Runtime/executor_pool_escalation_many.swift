// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=0 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// Under ThreadSanitizer the escalation alone takes longer than the limit.
// UNSUPPORTED: tsan
// REQUIRES: OS=linux-gnu

// A task with 50,000 children that wait is escalated. They are behind so many tasks of their class that the pool does
// not find them: to search for each of them takes more than the limit.

import Dispatch
import Glibc
import Synchronization

/// One that is isolated would wait on the main actor.
let child: @Sendable () async -> Void = {}

/// Returns the processor time that it takes.
@MainActor func escalate() async -> UInt64 {
  let stop = Flag(), added = Flag()
  let others = (0..<4000).map { _ in
    Task.detached(priority: .background) {
      let end = nowInNanoseconds() + 2_000_000
      while nowInNanoseconds() < end && !stop.isSet {}
    }
  }
  // The first thread is no worker: these go to the queue for all of them.
  let parent = Task(priority: .background) { @MainActor in
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<50_000 { group.addTask(operation: child) }
      added.set()
    }
  }
  while !added.isSet { try? await Task.sleep(for: .milliseconds(1)) }
  try? await Task.sleep(for: .milliseconds(2))
  let began = threadTime()
  parent.escalatePriority(to: .high)
  let took = threadTime() - began
  stop.set()
  await parent.value
  for other in others { await other.value }
  return took
}

@main struct Main {
  static func main() async {
    var times: [UInt64] = []
    for _ in 0..<3 { times.append(await escalate()) }
    print("escalation of 50,000 children: \(times) ns")
    expect(times.min()! < 40_000_000, "it takes 40 ms in each of three runs")
    exit(isAllRight ? 0 : 1)
  }
}
