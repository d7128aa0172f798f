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
// XFAIL: without_task-cancel-unlocked

// A thread with a small stack cancels deep trees, and one task with many groups and
// handlers, each in another. It takes no stack for a level, and reaches the innermost task.

import Synchronization

/// Async lets, groups and handlers in turn.
@Sendable func mixed(_ depth: Int, _ gate: Gate) async {
  if depth == 0 { return await gate.wait() }
  await withTaskCancellationHandler {
    async let one: Void = withTaskGroup(of: Void.self) { group in
      group.addTask { await mixed(depth - 1, gate) }
      await group.waitForAll()
    }
    await one
  } onCancel: {
    handlers.add(1, ordering: .relaxed)
  }
}

let handlers = Atomic<Int>(0)

/// Groups in one task, each with a child that has a handler, and handlers of the task itself.
@Sendable func scopes(_ depth: Int, _ gate: Gate) async {
  if depth == 0 { return await gate.wait() }
  await withTaskGroup(of: Void.self) { group in
    group.addTask {
      await withTaskCancellationHandler {
        try? await Task.sleep(nanoseconds: 1_000_000_000_000)
      } onCancel: {
        handlers.add(1, ordering: .relaxed)
      }
    }
    if depth % 8 == 0 {
      await withTaskCancellationHandler {
        await scopes(depth - 1, gate)
      } onCancel: {
        handlers.add(1, ordering: .relaxed)
      }
    } else {
      await scopes(depth - 1, gate)
    }
  }
}

@main struct Main {
  static func main() async {
    for (name, depth, body) in [
      ("groups", 20_000, groups), ("lets", 20_000, lets), ("mixed", 5000, mixed), ("scopes", 2000, scopes),
    ] {
      let gate = Gate { Task.isCancelled }
      let task = Task.detached { await body(depth, gate) }
      gate.becomeWaiting()
      onSmallStack { task.cancel() }
      gate.open()
      gate.expectReached(name)
      await task.value
    }
    precondition(handlers.load(ordering: .relaxed) == 5000 + 2000 + 250)
    // CHECK: done
    print("done")
  }
}
