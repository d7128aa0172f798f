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

@_silgen_name("allocatedBytes") func allocatedBytes() -> Int

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

func measure(_ what: String, _ limit: Int, _ body: () -> Void) {
  body()
  let before = allocatedBytes()
  for _ in 0..<3 { body() }
  // The last objects are freed after they have signalled.
  enqueue(1)
  usleep(10_000)
  let growth = allocatedBytes() - before
  print(what, growth < limit ? "ok" : "grew by \(growth) bytes")
}

@main struct Main {
  static func main() {
    // What the allocator caches for a thread counts as allocated. A job that
    // is left behind by each thread would be more than that.
    let limit = 512 << 10
    measure("one deinit a thread:", limit) { threads(3000, deinits: 1) }
    measure("a few deinits a thread:", limit) { threads(1000, deinits: 20) }
    measure("many deinits a thread:", limit) { threads(50, deinits: 3000) }
    measure("burst:", limit) { enqueue(300_000) }
  }
}

// CHECK: one deinit a thread: ok
// CHECK: a few deinits a thread: ok
// CHECK: many deinits a thread: ok
// CHECK: burst: ok
