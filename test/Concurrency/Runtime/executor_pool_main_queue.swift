// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=6 %target-run %t/a.out

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu

// Three threads and three tasks send blocks and main-actor jobs to the main queue, which is
// empty now and then. What each of them sends keeps its order, one at a time. What the
// main actor adds to the pool is run while the main actor goes on.

import Dispatch
import Glibc
import Synchronization

final class Senders: Sendable {
  static let count = 3000
  private let last = Mutex<[Int]>(Array(repeating: -1, count: 6))
  private let inside = Counter()
  private let arrived = Counter()

  var isComplete: Bool { arrived.count == 6 * Senders.count }

  /// On the main queue.
  private func arrive(_ sender: Int, _ number: Int) {
    dispatchPrecondition(condition: .onQueue(.main))
    expect(inside.add() == 1, "two at once on the main queue")
    last.withLock { last in
      expect(last[sender] == number - 1, "sender \(sender): \(number) came after \(last[sender])")
      last[sender] = number
    }
    inside.add(-1)
    arrived.add()
  }

  func send(_ sender: Int, pauses: Bool) {
    var random = UInt64(sender) &* 0x9E37_79B9_7F4A_7C15 &+ 1
    for number in 0..<Senders.count {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      switch (random >> 33) % 4 {
      case 0: DispatchQueue.main.async { self.arrive(sender, number) }
      case 1: Task { @MainActor in self.arrive(sender, number) }
      case 2: Task(priority: .high) { @MainActor in self.arrive(sender, number) }
      default: Task(priority: .background) { @MainActor in self.arrive(sender, number) }
      }
      if pauses && number % 4 == 0 { compute((random >> 40) % 60_000) }
    }
  }
}

/// Returns on the main actor when all has arrived.
@MainActor func sendFromAll(pauses: Bool) async {
  let senders = Senders()
  for sender in 0..<3 { Task.detached { senders.send(sender, pauses: pauses) } }
  await withUnsafeContinuation { own in
    pthread_detach(startThread {
      inThreads(3) { senders.send($0 + 3, pauses: pauses) }
      wait(for: "what the senders have sent") { senders.isComplete }
      own.resume()
    })
  }
  dispatchPrecondition(condition: .onQueue(.main))
}

@inline(never) @concurrent func callPool() async { compute(1) }

/// Goes between the main actor and the executor's threads, and meets a block of the main
/// queue on each way back that was sent before.
@MainActor func hop() async {
  let blocks = Counter()
  for number in 1...5000 {
    DispatchQueue.main.async { blocks.add() }
    await callPool()
    MainActor.assertIsolated()
    expect(blocks.count == number, "block \(number) is overtaken by the resumed main actor")
  }
}

/// After some short jobs the main actor adds two jobs that wait for each other, and blocks
/// until both have ended. As long as it is short, it leaves waking threads for later.
@MainActor func add() async {
  var times: [UInt64] = []
  for number in 1...300 {
    if number % 10 != 0 {
      async let one: Void = callPool()
      async let two: Void = callPool()
      _ = await (one, two)
    } else {
      times.append(time {
        let first = DispatchSemaphore(value: 0), second = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        Task.detached {
          first.signal()
          second.wait()
          ended.signal()
        }
        Task.detached {
          second.signal()
          first.wait()
          ended.signal()
        }
        for _ in 0..<2 { ended.wait() }
      })
    }
  }
  judge("two of the main actor that wait for each other", times, median: 50, worst: 5000)
}

@main struct Main {
  static func main() async {
    setvbuf(stdout, nil, _IOLBF, 0)
    watch("the main queue", 120)
    await sendFromAll(pauses: false)
    await sendFromAll(pauses: true)
    await hop()
    await add()
    exit(isAllRight ? 0 : 1)
  }
}
