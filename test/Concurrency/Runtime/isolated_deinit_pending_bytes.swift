// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/heap-in-use.c -o %t/heap-in-use.o
// RUN: %target-clang -x c -c %S/Inputs/held-jobs.c -o %t/held-jobs.o
// RUN: %target-build-swift -target %target-future-triple -parse-as-library %import-libdispatch %s %t/heap-in-use.o %t/held-jobs.o -o %t/a.out
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
import Glibc

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

@_silgen_name("heapInUse") func allocatedBytes() -> Int
@_silgen_name("holdJobs") func holdJobs()
@_silgen_name("enqueueHeldJobs") func enqueueHeldJobs()
@_silgen_name("enqueueNextJob")
func enqueueNextJob(_ identity: UnsafeRawPointer, _ implementation: UInt)
@_silgen_name("deinitOn")
func deinitOn(
  _ identity: UnsafeRawPointer, _ implementation: UInt,
  _ counter: UnsafeMutablePointer<Int>)
@_silgen_name("deinitCount")
func deinitCount(_ counter: UnsafeMutablePointer<Int>) -> Int

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

/// The bytes that each deinit takes if `each` of them wait for each of `count` actors,
/// which no thread comes to run. If they are `apart` then the actors get them in turn, and
/// other jobs in between.
func stalled(_ count: Int, each: Int, apart: Bool) -> Int {
  let counter = UnsafeMutablePointer<Int>.allocate(capacity: 1)
  counter.pointee = 0
  let workers = (0..<count).map { _ in Worker() }
  let executors = workers.map {
    unsafeBitCast($0.unownedExecutor, to: (UnsafeRawPointer, UInt).self)
  }
  var bytes = 0
  func drop(_ executor: (UnsafeRawPointer, UInt)) {
    let before = allocatedBytes()
    deinitOn(executor.0, executor.1, counter)
    bytes += allocatedBytes() - before
  }
  /// A job that no deinit can join.
  func enqueue(_ executor: (UnsafeRawPointer, UInt)) {
    enqueueNextJob(executor.0, executor.1)
    Task.detached {}
  }
  holdJobs()
  executors.forEach(enqueue)
  if apart {
    for _ in 0..<each {
      for executor in executors {
        drop(executor)
        enqueue(executor)
      }
    }
  } else {
    for executor in executors {
      for _ in 0..<each { drop(executor) }
    }
  }
  enqueueHeldJobs()
  while deinitCount(counter) != count * each { usleep(1000) }
  withExtendedLifetime(workers) {}
  counter.deallocate()
  return bytes / (count * each)
}

/// With a job each, a deinit takes a block of 96 bytes.
let limits = [
  (1, 96), (2, 124), (3, 124), (8, 124), (9, 124), (40, 124), (200, 124), (10_000, 24),
]

@main struct Main {
  static func main() {
    _ = pending(1)
    for (count, limit) in limits {
      let bytes = pending(count)
      print("\(count) deinits:", bytes <= limit ? "ok" : "\(bytes) bytes each")
    }
    for each in [1, 2, 3] {
      for apart in [false, true] {
        let bytes = stalled(1_500, each: each, apart: apart)
        print("\(each) for each of 1500\(apart ? ", apart" : ""):",
          bytes <= 124 ? "ok" : "\(bytes) bytes each")
      }
    }
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
// CHECK: 1 for each of 1500: ok
// CHECK: 1 for each of 1500, apart: ok
// CHECK: 2 for each of 1500: ok
// CHECK: 2 for each of 1500, apart: ok
// CHECK: 3 for each of 1500: ok
// CHECK: 3 for each of 1500, apart: ok
