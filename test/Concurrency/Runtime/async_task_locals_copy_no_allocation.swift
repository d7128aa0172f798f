// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/counting-malloc.c -o %t/counting-malloc.o
// RUN: %target-build-swift -plugin-path %swift-plugin-dir -target %target-future-triple %import-libdispatch -import-objc-header %S/Inputs/counting-malloc.h %s %t/counting-malloc.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// The executable's malloc takes the place of the C library's.
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: asan
// UNSUPPORTED: tsan

// The unpatched runtime allocates a tree node for each key.
// XFAIL: without_tasklocal-copy-dense-set

// Copying a few task-locals into a task takes no allocation except for the copies,
// which share the memory of the task.

let rounds = 200

/// The allocations of this thread in one of `rounds` calls of `body`.
func allocationsPerRound(_ body: () -> Void) -> Double {
  body()
  startCounting()
  for _ in 0..<rounds { body() }
  return Double(stopCounting()) / Double(rounds)
}

let keys = (0..<8).map { _ in TaskLocal(wrappedValue: 0) }

/// Binds the first `count` keys, each of them twice.
func bind<R>(_ count: Int, _ body: () -> R) -> R {
  if count == 0 { return body() }
  return keys[count - 1].withValue(-1) {
    bind(count - 1) { keys[count - 1].withValue(count) { body() } }
  }
}

func forTask(_ count: Int) async -> Double {
  var tasks: [Task<Int, Never>] = []
  tasks.reserveCapacity(rounds + 1)
  let result = bind(count) {
    allocationsPerRound {
      tasks.append(Task { keys.reduce(0) { $0 + $1.get() } })
    }
  }
  for task in tasks {
    let sum = await task.value
    if sum != count * (count + 1) / 2 { fatalError("sum \(sum) for \(count)") }
  }
  return result
}

func forGroupChild(_ count: Int) async -> Double {
  await withTaskGroup(of: Int.self) { group in
    let result = bind(count) {
      allocationsPerRound {
        group.addTask { keys.reduce(0) { $0 + $1.get() } }
      }
    }
    for await sum in group {
      if sum != count * (count + 1) / 2 { fatalError("sum \(sum) for \(count)") }
    }
    return result
  }
}

// One binding or eight: the copies fit into the first slab of the task's memory,
// or need a second one.
func report(_ what: String, _ one: Double, _ eight: Double) {
  let verdict = one >= 1 && eight < one + 2 ? "ok" : "too many"
  print("\(what): \(verdict)")
  if verdict != "ok" { print("  1 key: \(one), 8 keys: \(eight)") }
}

// CHECK: task: ok
report("task", await forTask(1), await forTask(8))
// CHECK-NEXT: child of a group: ok
report("child of a group", await forGroupChild(1), await forGroupChild(8))
