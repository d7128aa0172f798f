// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -target %target-future-triple -parse-as-library %s %S/Inputs/DeepTaskSupport.swift -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// The frames of a sanitizer are larger.
// UNSUPPORTED: asan, tsan
// XFAIL: without_task-escalation-unlocked

// A thread with a small stack escalates deep trees, and a long chain of tasks that wait
// for each other. It takes no stack for a level, and reaches the innermost task.

/// Async lets and groups in turn.
@Sendable func mixed(_ depth: Int, _ gate: Gate) async {
  if depth == 0 { return await gate.wait() }
  async let one: Void = withTaskGroup(of: Void.self) { group in
    group.addTask { await mixed(depth - 1, gate) }
    await group.waitForAll()
  }
  await one
}

@Sendable func tasks(_ depth: Int, _ gate: Gate) async {
  if depth == 0 { return await gate.wait() }
  await Task.detached(priority: .background) { await tasks(depth - 1, gate) }.value
}

@main struct Main {
  static func main() async {
    for (name, depth, body) in [
      ("groups", 100_000, groups), ("lets", 100_000, lets), ("mixed", 20_000, mixed), ("tasks", 100_000, tasks),
    ] {
      let gate = Gate { Task.currentPriority >= .high }
      let task = Task.detached(priority: .background) {
        await body(depth, gate)
      }
      gate.becomeWaiting()
      if #available(macOS 26, *) {
        onSmallStack { task.escalatePriority(to: .high) }
      }
      gate.open()
      // To wait for a task escalates it, too: so only afterwards.
      if #available(macOS 26, *) { gate.expectReached(name) }
      await task.value
    }
    // CHECK: done
    print("done")
  }
}
