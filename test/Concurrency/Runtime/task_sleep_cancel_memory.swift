// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/heap-in-use.c -o %t/heap-in-use.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple %import-libdispatch -parse-as-library -import-objc-header %S/Inputs/heap-in-use.h %s %t/heap-in-use.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// It asks the C library's malloc.
// REQUIRES: OS=linux-gnu
// Frames are larger where the library has assertions: they need another slab.
// UNSUPPORTED: runtime_debug
// UNSUPPORTED: asan
// UNSUPPORTED: tsan

// A task and a timer stayed until the deadline of each cancelled sleep: 700
// to 850 bytes, and 1,750 with a tolerance.
// XFAIL: without_sleep-heap

// A cancelled sleep leaves nothing behind. A waiting one takes no task, and no
// frames for which its own task needs another slab of a kilobyte.

import Dispatch
import Glibc
import Synchronization

let count = 100_000
let started = Atomic<Int>(0)

@discardableResult
func start(_ sleep: @escaping @Sendable () async throws -> Void) async
  -> [Task<Bool, Never>] {
  started.store(0, ordering: .relaxed)
  let tasks = (0..<count).map { _ in
    Task.detached {
      started.add(1, ordering: .relaxed)
      do { try await sleep() } catch { return true }
      return false
    }
  }
  while started.load(ordering: .relaxed) < count { await Task.yield() }
  // The last ones have started and may not sleep yet.
  try? await Task.sleep(nanoseconds: 100_000_000)
  return tasks
}

/// For the header of the patch; `utils/run-test -a` shows it.
func tell(_ figure: String) {
  fputs(figure + "\n", stderr)
}

/// The bytes that are left of each sleep that is cancelled.
func left(
  _ name: String, _ sleep: @escaping @Sendable () async throws -> Void
) async {
  // The first time is for what is allocated once.
  var before = 0
  for _ in 0..<2 {
    before = heapInUse()
    let tasks = await start(sleep)
    for task in tasks { task.cancel() }
    for task in tasks {
      if await !task.value { fatalError("\(name) was not cancelled") }
    }
  }
  var bytes = (heapInUse() - before) / count
  // A thread may still release the task that it has ended.
  for _ in 0..<100 where bytes > 40 {
    try? await Task.sleep(nanoseconds: 10_000_000)
    bytes = (heapInUse() - before) / count
  }
  tell("\(name): \(bytes) bytes left")
  print("\(name):", bytes <= 40 ? "little" : "\(bytes) bytes")
}

/// The bytes of a task that sleeps.
func waiting(_ name: String, _ start: () -> Task<Void, Never>) async {
  let before = heapInUse()
  let tasks = (0..<count).map { _ in start() }
  var last = 0, now = before
  while abs(now - last) > count {
    try? await Task.sleep(nanoseconds: 200_000_000)
    (last, now) = (now, heapInUse())
  }
  let bytes = (now - before) / count
  tell("\(name): \(bytes) bytes of a waiting task")
  print("\(name) waits:", bytes <= 1800 ? "one slab" : "\(bytes) bytes")
  for task in tasks { task.cancel() }
  for task in tasks { await task.value }
}

@main struct Main {
  static func main() async {
    // CHECK: nanoseconds waits: one slab
    await waiting("nanoseconds") {
      Task { try? await Task.sleep(nanoseconds: 1_000_000_000_000) }
    }
    // CHECK: for waits: one slab
    await waiting("for") { Task { try? await Task.sleep(for: .seconds(1000)) } }
    // CHECK: tolerance waits: one slab
    await waiting("tolerance") {
      Task {
        try? await Task.sleep(for: .seconds(1000), tolerance: .seconds(1))
      }
    }
    // CHECK: nanoseconds: little
    await left("nanoseconds") {
      try await Task.sleep(nanoseconds: 1_000_000_000_000)
    }
    // CHECK: for: little
    await left("for") { try await Task.sleep(for: .seconds(1000)) }
    // CHECK: tolerance: little
    await left("tolerance") {
      try await Task.sleep(for: .seconds(1000), tolerance: .seconds(1))
    }
    // CHECK: until: little
    await left("until") {
      try await Task.sleep(
        until: .now + .seconds(1000), clock: SuspendingClock())
    }
  }
}
