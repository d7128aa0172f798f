// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple %import-libdispatch -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out 60000 | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// Many sleeps with random deadlines on both clocks, with and without tolerances,
// cancelled at random times: each ends once, not too early, and as it should.

import Dispatch
import Synchronization

struct Generator: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state = state &* 6364136223846793005 &+ 1442695040888963407
    return state ^ (state >> 29)
  }
}

let slept = Atomic<Int>(0)
let cancelled = Atomic<Int>(0)

func sleepOnce(_ number: Int, until deadline: ContinuousClock.Instant) async {
  let clock = ContinuousClock()
  let duration = clock.now.duration(to: deadline)
  do {
    switch number % 4 {
    case 0:
      try await Task.sleep(until: deadline, clock: clock)
    case 1:
      try await Task.sleep(
        until: deadline, tolerance: .milliseconds(number % 50), clock: clock)
    case 2:
      try await Task.sleep(for: duration, clock: .suspending)
    default:
      let (seconds, attoseconds) = duration.components
      try await Task.sleep(nanoseconds: UInt64(max(
        0, seconds * 1_000_000_000 + attoseconds / 1_000_000_000)))
    }
    // The two clocks are not read at the same time.
    if clock.now < deadline - .milliseconds(number % 4 == 2 ? 5 : 0) {
      fatalError("\(number) ended too early")
    }
    slept.add(1, ordering: .relaxed)
  } catch {
    if !Task.isCancelled { fatalError("\(number) was not cancelled") }
    cancelled.add(1, ordering: .relaxed)
  }
}

@main struct Main {
  static func main() async {
    let count = Int(CommandLine.arguments[1])!
    await withTaskGroup(of: Void.self) { group in
      let clients = 8
      for client in 0..<clients {
        group.addTask {
          var random = Generator(state: UInt64(client + 1))
          var tasks: [Task<Void, Never>] = []
          for number in 0..<(count / clients) {
            let deadline = ContinuousClock.now
              + .microseconds(Int.random(in: -1000..<1_000_000, using: &random))
            tasks.append(Task { await sleepOnce(number, until: deadline) })
            if Bool.random(using: &random) {
              tasks[Int.random(in: 0..<tasks.count, using: &random)].cancel()
            }
          }
          tasks.shuffle(using: &random)
          for task in tasks {
            if Int.random(in: 0..<4, using: &random) == 0 { task.cancel() }
            await task.value
          }
        }
      }
    }
    let sum = slept.load(ordering: .relaxed) + cancelled.load(ordering: .relaxed)
    // CHECK: all
    print(sum == count / 8 * 8 ? "all" : "\(sum) of \(count)")
  }
}
