// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -target %target-future-triple %import-libdispatch -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out cancel | %FileCheck %s
// RUN: %target-run %t/a.out cancelAll | %FileCheck %s
// RUN: %target-run %t/a.out escalate | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// While children of a task are cancelled or escalated, others end, and so do their results. The thread that cancels may
// hold a lock that a result's deinit takes, so that deinit must not run there.

import Dispatch
import Glibc
import Synchronization

/// What a program may hold while it cancels.
let holder = Atomic<UInt>(0)
let deinits = Atomic(0)

func thisThread() -> UInt { UInt(pthread_self()) }

final class Lease: Sendable {
  deinit {
    if holder.load(ordering: .sequentiallyConsistent) == thisThread() {
      fatalError("a result is destroyed by the thread that cancels")
    }
    deinits.add(1, ordering: .relaxed)
  }
}

func after(_ microseconds: Int) async {
  await withUnsafeContinuation { continuation in
    DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(microseconds)) { continuation.resume() }
  }
}

/// Runs `body` until the scope is cancelled or escalated, which takes as long as the others need to end.
func withSlowHandler(_ body: () async -> Void) async {
  await withTaskPriorityEscalationHandler {
    await withTaskCancellationHandler(operation: body) { usleep(30_000) }
  } onPriorityEscalated: { _, _ in
    usleep(30_000)
  }
}

func children(of group: inout TaskGroup<Lease>) {
  group.addTask(priority: .low) {
    await withSlowHandler { await after(60_000) }
    return Lease()
  }
  for _ in 0..<50 {
    group.addTask(priority: .low) {
      await withTaskPriorityEscalationHandler {
        await withTaskCancellationHandler { await after(15_000) } onCancel: {}
      } onPriorityEscalated: { _, _ in
      }
      return Lease()
    }
  }
}

@main struct Main {
  static func main() async {
    let mode = CommandLine.arguments[1]
    for _ in 0..<5 {
      let task = Task.detached(priority: .low) {
        await withTaskGroup(of: Lease.self) { group in
          children(of: &group)
          if mode == "cancelAll" {
            await after(5_000)
            holder.store(thisThread(), ordering: .sequentiallyConsistent)
            group.cancelAll()
            holder.store(0, ordering: .sequentiallyConsistent)
          }
          for await _ in group {}
        }
      }
      await after(5_000)
      if mode != "cancelAll" {
        holder.store(thisThread(), ordering: .sequentiallyConsistent)
        if mode == "cancel" { task.cancel() } else { task.escalatePriority(to: .high) }
        holder.store(0, ordering: .sequentiallyConsistent)
      }
      await task.value
    }
    // The last ones may be in a job that has not run.
    for _ in 0..<30_000 where deinits.load(ordering: .relaxed) < 5 * 51 { usleep(1000) }
    // CHECK: 255 results
    print(deinits.load(ordering: .relaxed), "results")
  }
}
