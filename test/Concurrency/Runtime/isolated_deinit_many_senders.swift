// RUN: %target-run-simple-swift( -target %target-future-triple -parse-as-library %import-libdispatch) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// Many threads enqueue deinits and tasks on one actor, while it runs them. Each
// runs once, and those of one thread in their order.

import Dispatch
import Synchronization

@globalActor actor Target { static let shared = Target() }

let threads = 8
let perThread = 50_000

@Target var next = [Int](repeating: 0, count: threads)
@Target var wrong = 0

@Target func see(_ thread: Int, _ number: Int) {
  if next[thread] != number { wrong += 1 }
  next[thread] = number + 1
}

@Target final class Object {
  nonisolated let thread: Int
  nonisolated let number: Int
  nonisolated init(_ thread: Int, _ number: Int) {
    self.thread = thread
    self.number = number
  }
  isolated deinit { see(thread, number) }
}

/// A small generator, so that each thread has a sequence of its own.
struct Random {
  var state: UInt64
  mutating func next(_ bound: UInt64) -> UInt64 {
    state = state &* 6364136223846793005 &+ 1442695040888963407
    return (state >> 33) % bound
  }
}

func enqueue(_ thread: Int) {
  var random = Random(state: UInt64(thread))
  var pause = 0
  for number in 0..<perThread {
    if random.next(50) == 0 {
      Task.detached(priority: .background) { @Target in see(thread, number) }
    } else {
      _ = Object(thread, number)
    }
    // Sometimes wait, so that the actor catches up.
    if random.next(200) == 0 {
      for i in 0..<Int(random.next(20_000)) { pause &+= i }
    }
  }
  withExtendedLifetime(pause) {}
}

@main struct Main {
  static func main() {
    // Not the global pool, which may have fewer threads than that.
    let group = DispatchGroup()
    for thread in 0..<threads {
      DispatchQueue(label: "\(thread)").async(group: group) {
        // No task: the priority of the deinits is unspecified.
        enqueue(thread)
      }
    }
    group.wait()
    let done = DispatchSemaphore(value: 0)
    Task.detached(priority: .background) { @Target in
      print("wrong:", wrong)
      print("all:", next.allSatisfy { $0 == perThread })
      done.signal()
    }
    done.wait()
  }
}

// CHECK: wrong: 0
// CHECK: all: true
