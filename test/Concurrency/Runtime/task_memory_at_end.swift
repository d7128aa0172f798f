// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -O2 -fPIC -c %S/Inputs/heap-in-use.c -o %t/heap-in-use.o
// RUN: %target-build-swift -O -target %target-future-triple -parse-as-library -import-objc-header %S/Inputs/heap-in-use.h %s %t/heap-in-use.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: use_os_stdlib
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// REQUIRES: OS=linux-gnu
// A sanitizer has a malloc of its own.
// UNSUPPORTED: asan, tsan

// XFAIL: without_task-memory-at-end

// A task that has ended gives the memory of its frames back, also while somebody keeps it: in a
// variable, or in the queue of its group. What it returned is kept.

import Synchronization

@inline(never) func halves(_ number: Int) async -> Int {
  if number == 0 { return 0 }
  let buffer = [number, number]
  await Task.yield()
  return await halves(number / 2) + buffer[0] - buffer[1] + 1
}

struct Failure: Error {}

let ended = Atomic(0)

/// The bytes that each of `count` tasks takes which body makes and keeps until it calls its argument.
func measure(_ name: String, most: Int, _ count: Int, _ body: (() -> Void) async -> Void) async {
  // The first time fills the caches of the runtime and of malloc.
  await body {}
  let before = Int(heapInUse())
  var bytes = 0
  await body { bytes = (Int(heapInUse()) - before) / count }
  print("\(name): \(bytes <= most ? "freed" : "\(bytes) bytes a task")")
}

@main struct Main {
  static func main() async {
    let count = 4000

    // CHECK: tasks: freed
    await measure("tasks", most: 800, count) { look in
      let tasks = (0..<count).map { number in Task { await halves(number) } }
      var sum = 0
      for task in tasks { sum += await task.value }
      look()
      let again = await withTaskGroup(of: Int.self) { group in
        for task in tasks { group.addTask { await task.value } }
        return await group.reduce(0, +)
      }
      precondition(sum == again)
      withExtendedLifetime(tasks) {}
    }

    // CHECK-NEXT: tasks that throw: freed
    await measure("tasks that throw", most: 800, count) { look in
      let tasks = (0..<count).map { number in
        Task { if await halves(number) >= 0 { throw Failure() } }
      }
      for task in tasks { guard case .failure(is Failure) = await task.result else { fatalError() } }
      look()
      withExtendedLifetime(tasks) {}
    }

    // CHECK-NEXT: children: freed
    await measure("children", most: 900, count) { look in
      ended.store(0, ordering: .relaxed)
      await withTaskGroup(of: Int.self) { group in
        for number in 0..<count {
          group.addTask { @MainActor in
            let found = await halves(number)
            ended.add(1, ordering: .relaxed)
            return found
          }
        }
        while ended.load(ordering: .relaxed) < count { await Task.yield() }
        // The last child ends in the job of the main actor that counted it.
        await Task { @MainActor in }.value
        look()
        for await _ in group {}
      }
    }
  }
}
