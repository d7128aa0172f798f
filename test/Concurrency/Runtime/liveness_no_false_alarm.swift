// RUN: %empty-directory(%t)
// RUN: %target-build-swift %import-libdispatch -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=400 %target-run %t/a.out > %t/log 2>&1
// RUN: %FileCheck %s < %t/log

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// It depends on times, and other tests may take the processors.
// ALLOW_RETRIES: 2

// What looks like a stuck job from outside, and is none.

// CHECK-NOT: liveness

import Dispatch
import Glibc

actor Counter {
  var count = 0
  func add() { count += 1 }
}

/// Deinits that wait at the same time for their actor may be one job.
@globalActor actor Slow {
  static let shared = Slow()
  static func block(_ seconds: Double) { usleep(UInt32(seconds * 1e6)) }
}

@Slow final class Dying {
  nonisolated init() {}
  isolated deinit { Slow.block(0.05) }
}

func seconds() -> Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }

@main struct Main {
  static func main() async throws {
    // A task that works for long, and yields.
    let yielding = Task.detached {
      let end = seconds() + 1.2
      while seconds() < end { await Task.yield() }
    }
    await yielding.value

    // One that goes back and forth between executors without giving up its thread.
    let hopping = Task.detached {
      let one = Counter(), other = Counter()
      let end = seconds() + 1.2
      while seconds() < end {
        await one.add()
        await other.add()
      }
    }
    await hopping.value

    // One that finds what it waits for each time: a value, a child of a group, a continuation.
    await Task.detached {
      let done = Task {}
      await done.value
      let end = seconds() + 1.2
      while seconds() < end { await done.value }
    }.value
    await Task.detached {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<1200 { group.addTask {} }
        try? await Task.sleep(nanoseconds: 300_000_000)
        while await group.next() != nil { usleep(1000) }
      }
    }.value
    await Task.detached {
      let end = seconds() + 1.2
      while seconds() < end { await withUnsafeContinuation { $0.resume() } }
    }.value

    // One deinit after the other on an actor.
    let busy = Task { @Slow in Slow.block(0.1) }
    try await Task.sleep(nanoseconds: 20_000_000)
    _ = (0..<20).map { _ in Dying() }
    await busy.value
    await Task { @Slow in }.value

    // A suspended task, and the threads that have nothing to do meanwhile.
    try await Task.sleep(nanoseconds: 1_200_000_000)
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      DispatchQueue.global().asyncAfter(deadline: .now() + 1.2) { continuation.resume() }
    }

    // A process that a debugger or a terminal stops.
    await Task.detached {
      let script = "sleep 0.5; kill -STOP \(getpid()); sleep 1.5; kill -CONT \(getpid())"
      var child = pid_t()
      var arguments: [UnsafeMutablePointer<CChar>?] =
        ["sh", "-c", script].map { (text: String) in strdup(text) } + [nil]
      precondition(posix_spawn(&child, "/bin/sh", nil, nil, &arguments, environ) == 0)
      for argument in arguments { free(argument) }
      // Jobs of 50 ms. One of them takes a second more on the clock.
      let end = seconds() + 5
      var longest = 0.0
      var last = seconds()
      while longest < 1, seconds() < end {
        await Task.yield()
        let pause = seconds() + 0.05
        while last < pause {
          let now = seconds()
          longest = max(longest, now - last)
          last = now
        }
      }
      var status: Int32 = 0
      waitpid(child, &status, 0)
      print("stopped for a second:", longest > 1)
    }.value
    // CHECK: stopped for a second: true
    // CHECK-NOT: liveness
    // CHECK: done
    print("done")
  }
}
