// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/isolated_deinit_memory.c -o %t/memory.o
// RUN: %target-clang -x c -c %S/Inputs/heap-in-use.c -o %t/heap-in-use.o
// RUN: %target-build-swift -target %target-future-triple -parse-as-library %import-libdispatch %s %t/memory.o %t/heap-in-use.o -o %t/a.out
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
// qemu keeps 280 KB of each thread that has ended, whatever it ran.
// UNSUPPORTED: emulated
// REQUIRES: OS=linux-gnu

// What a thread keeps in order to enqueue isolated deinits goes with the thread,
// and what a burst of deinits takes goes with the burst.

import Dispatch
import Glibc

@globalActor actor Target { static let shared = Target() }

@Target final class Object {
  nonisolated let done: DispatchSemaphore?
  nonisolated init(_ done: DispatchSemaphore?) { self.done = done }
  isolated deinit { done?.signal() }
}

func enqueue(_ count: Int) {
  let done = DispatchSemaphore(value: 0)
  for _ in 1..<count { _ = Object(nil) }
  _ = Object(done)
  done.wait()
}

/// Enqueues deinits while the actor is busy, so that all of them wait.
func queueUp(_ objects: UnsafeMutablePointer<Object>, _ count: Int) {
  let gate = DispatchSemaphore(value: 0), done = DispatchSemaphore(value: 0)
  Task { @Target in blockUntilSignalled(gate) }
  for i in 0..<count { (objects + i).initialize(to: Object(nil)) }
  objects.deinitialize(count: count)
  _ = Object(done)
  gate.signal()
  done.wait()
}

func blockUntilSignalled(_ semaphore: DispatchSemaphore) { semaphore.wait() }

@_silgen_name("heapInUse") func allocatedBytes() -> Int
@_silgen_name("mappedBytes") func mappedBytes() -> Int
@_silgen_name("residentBytes") func residentBytes() -> Int

func threads(_ count: Int, deinits: Int) {
  for _ in 0..<count {
    var thread = pthread_t()
    var argument = deinits
    pthread_create(&thread, nil, { argument in
      enqueue(argument!.load(as: Int.self))
      return nil
    }, &argument)
    pthread_join(thread, nil)
  }
}

func measure(
  _ what: String, _ measures: [(bytes: () -> Int, limit: Int)], _ body: () -> Void
) {
  body()
  let before = measures.map { $0.bytes() }
  for _ in 0..<3 { body() }
  // The last objects are freed after they have signalled.
  enqueue(1)
  usleep(10_000)
  let growth = zip(measures, before).map { $0.bytes() - $1 }
  let ok = zip(measures, growth).allSatisfy { $1 < $0.limit }
  print(what, ok ? "ok" : "grew by \(growth) bytes")
}

@main struct Main {
  static func main() {
    // What the allocator caches for a thread counts as allocated. A job that
    // is left behind by each thread would be more than that.
    // Address space also goes to stacks and to an allocator for each thread.
    let kept = [(allocatedBytes, 512 << 10), (mappedBytes, 256 << 20)]
    measure("one deinit a thread:", kept) { threads(10_000, deinits: 1) }
    measure("a few deinits a thread:", kept) { threads(1000, deinits: 20) }
    measure("many deinits a thread:", kept) { threads(50, deinits: 3000) }
    measure("burst:", kept) { enqueue(300_000) }

    // What this thread keeps must not hold the memory of the objects back, which
    // glibc returns from the end of the heap.
    let count = 300_000
    let objects = UnsafeMutablePointer<Object>.allocate(capacity: count)
    measure("queue:", kept + [(residentBytes, 4 << 20)]) {
      queueUp(objects, count)
    }
    objects.deallocate()
  }
}

// CHECK: one deinit a thread: ok
// CHECK: a few deinits a thread: ok
// CHECK: many deinits a thread: ok
// CHECK: burst: ok
// CHECK: queue: ok
