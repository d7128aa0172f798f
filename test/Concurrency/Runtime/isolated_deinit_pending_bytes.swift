// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/isolated_deinit_memory.c -o %t/memory.o
// RUN: %target-build-swift -target %target-future-triple -parse-as-library %import-libdispatch %s %t/memory.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// UNSUPPORTED: asan, tsan
// REQUIRES: OS=linux-gnu
// XFAIL: without_isolated-deinit-shared-jobs

// What isolated deinits take while they wait for an actor: a job of 80 bytes for the
// first one, and much less than that for each if many wait.

import Dispatch

actor Worker {
  let entered = DispatchSemaphore(value: 0)
  let gate = DispatchSemaphore(value: 0)
  func stall() {
    entered.signal()
    gate.wait()
  }
  func stallEnds(_ done: DispatchSemaphore) { done.signal() }
}

/// Its actor is the one that is current at the end of an object.
@globalActor struct Current {
  nonisolated(unsafe) static var worker = Worker()
  static var shared: Worker { worker }
}

nonisolated(unsafe) var ran = 0
let allRan = DispatchSemaphore(value: 0)

final class Object: Sendable {
  @Current deinit {
    ran += 1
    if ran == expected { allRan.signal() }
  }
}
nonisolated(unsafe) var expected = 0

@_silgen_name("allocatedBytes") func allocatedBytes() -> Int

/// The bytes that each of `count` deinits takes while they wait for one actor.
func pending(_ count: Int) -> Int {
  let first = Worker()
  Task.detached { await first.stall() }
  first.entered.wait()
  var objects = (0..<count).map { _ in Object() }
  ran = 0
  expected = count
  Current.worker = first
  let before = allocatedBytes()
  while !objects.isEmpty { objects.removeLast() }
  let bytes = allocatedBytes() - before
  first.gate.signal()
  allRan.wait()
  return bytes / count
}

/// The bytes that each deinit takes if one waits for each of `count` busy actors.
func stalled(_ count: Int) -> Int {
  var objects = (0..<count).map { _ in Object() }
  ran = 0
  expected = count
  let workers = (0..<count).map { _ in Worker() }
  var bytes = 0
  for worker in workers {
    // The actor is busy while its deinit is enqueued: 1,500 threads are too many.
    Task.detached { await worker.stall() }
    worker.entered.wait()
    Current.worker = worker
    let before = allocatedBytes()
    objects.removeLast()
    bytes += allocatedBytes() - before
    worker.gate.signal()
    // Wait for it: the deinits of different actors must not count at once.
    let done = DispatchSemaphore(value: 0)
    Task.detached { await worker.stallEnds(done) }
    done.wait()
  }
  allRan.wait()
  return bytes / count
}

/// With a job each, a deinit takes a block of 96 bytes. An actor for which more than one
/// waits has a block of 80 besides.
let limits = [
  (1, 96), (2, 160), (3, 124), (8, 124), (9, 124), (40, 124), (200, 124), (10_000, 24),
]

@main struct Main {
  static func main() {
    _ = pending(1)
    for (count, limit) in limits {
      let bytes = pending(count)
      print("\(count) deinits:", bytes <= limit ? "ok" : "\(bytes) bytes each")
    }
    let bytes = stalled(1_500)
    print("1500 stalled actors:", bytes <= 124 ? "ok" : "\(bytes) bytes each")
  }
}

// CHECK: 1 deinits: ok
// CHECK: 2 deinits: ok
// CHECK: 3 deinits: ok
// CHECK: 8 deinits: ok
// CHECK: 9 deinits: ok
// CHECK: 40 deinits: ok
// CHECK: 200 deinits: ok
// CHECK: 10000 deinits: ok
// CHECK: 1500 stalled actors: ok
