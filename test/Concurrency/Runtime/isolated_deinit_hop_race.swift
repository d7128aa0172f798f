// RUN: %target-run-simple-swift( -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// The unpatched runtime reports a fatal error in one of some 100,000 rounds. There
// are fewer here, so it does not in every run.
// UNSUPPORTED: without_deinit-enqueue-no-retain

// The main thread drops the last reference to a default actor while a worker
// thread is about to leave the actor, after a task of lower priority. Where the
// worker still holds the actor, the deinit is enqueued on it.

import Dispatch
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

let finishing = Atomic<Bool>(false)
let destroyed = Atomic<Int>(0)

actor Worker {
  nonisolated func start() {
    Task(priority: .background) { [self] in await work() }
  }

  private func work() {
    Task(priority: .background) {
      touch()
      finishing.store(true, ordering: .releasing)
    }
  }

  private func touch() {}

  isolated deinit {
    destroyed.add(1, ordering: .releasing)
  }
}

/// Lets others run after a while, where there may be one processor.
func spin(until condition: () -> Bool) {
  var spins = 0
  while !condition() {
    spins += 1
    if spins > 1000 { sched_yield() }
  }
}

@main
struct Main {
  static func main() {
    var generator: UInt64 = 88_172_645_463_325_252
    for count in 1...30_000 {
      finishing.store(false, ordering: .relaxed)
      let worker = Unmanaged.passRetained(Worker())
      worker._withUnsafeGuaranteedRef { $0.start() }
      spin { finishing.load(ordering: .acquiring) }

      generator ^= generator << 13
      generator ^= generator >> 7
      generator ^= generator << 17
      for _ in 0..<(generator % 600) { _ = finishing.load(ordering: .acquiring) }
      worker.release()
      spin { destroyed.load(ordering: .acquiring) >= count }
    }
    // CHECK: destroyed 30000
    print("destroyed \(destroyed.load(ordering: .relaxed))")
  }
}
