// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple %import-libdispatch -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// Each sleep had a wake-up of its own.
// XFAIL: without_sleep-tolerance

// Sleeps whose tolerances overlap end together, each within its own. A tolerance delays no sleep
// for another reason: not one that is alone, nor one whose tolerance is smaller than that of the
// first, nor those whose common time has been cancelled, nor one of many that are due at once.

let clock = ContinuousClock()

/// Sleeps that wake together.
func together() async {
  let count = 100
  let start = clock.now + .milliseconds(200)
  // A deadline in 20 ms, and four seconds of tolerance.
  let ends = await withTaskGroup(of: Duration.self) { group in
    for number in 0..<count {
      group.addTask {
        let deadline = start + .milliseconds(20 * number)
        try? await Task.sleep(
          until: deadline, tolerance: .seconds(4), clock: clock)
        let end = clock.now
        if end < deadline { fatalError("\(deadline - end) too early") }
        if end > deadline + .seconds(20) { fatalError("too late") }
        return end - start
      }
    }
    return await group.reduce(into: []) { $0.append($1) }.sorted()
  }
  // A wake-up is what comes after a pause.
  var wakes = 1
  for (one, next) in zip(ends, ends.dropFirst())
  where next - one > .milliseconds(5) { wakes += 1 }
  // CHECK: together
  print(wakes < count / 5 ? "together" : "\(wakes) times")
}

/// Tries a few times, as the machine may be busy, whether a sleep ends long before its tolerance.
func check(_ name: String, _ measure: () async -> Duration) async {
  var least = Duration.seconds(1000)
  for _ in 0..<5 where least >= .milliseconds(250) {
    least = min(least, await measure())
  }
  print("\(name):", least < .milliseconds(250) ? "in time" : "\(least) late")
}

func late<C: Clock<Duration>>(
  _ duration: Duration, tolerance: Duration?, _ sleepClock: C
) async -> Duration {
  let deadline = clock.now + duration
  try? await Task.sleep(for: duration, tolerance: tolerance, clock: sleepClock)
  return clock.now - deadline
}

/// Sleepers on all threads, until they are cancelled.
func startSleepers(
  _ count: Int, _ duration: Duration, tolerance: Duration
) -> [Task<Duration, Never>] {
  (0..<count).map { _ in
    Task.detached { await late(duration, tolerance: tolerance, clock) }
  }
}

@main struct Main {
  static func main() async {
    await together()

    // CHECK-NEXT: continuous: in time
    await check("continuous") {
      await late(.milliseconds(20), tolerance: .seconds(1), clock)
    }
    // CHECK-NEXT: suspending: in time
    await check("suspending") {
      await late(.milliseconds(20), tolerance: .seconds(1), SuspendingClock())
    }
    // CHECK-NEXT: for ever: in time
    await check("for ever") {
      await late(.milliseconds(20), tolerance: .seconds(Int64.max), clock)
    }

    // The first one tolerates more than the next one.
    // CHECK-NEXT: next: in time
    await check("next") {
      let first = startSleepers(50, .milliseconds(40), tolerance: .seconds(20))
      let last = startSleepers(50, .seconds(15), tolerance: .zero)
      await Task.yield()
      let result = await late(.milliseconds(60), tolerance: nil, clock)
      for task in first + last { task.cancel() }
      for task in first + last { _ = await task.value }
      return result
    }
    // CHECK-NEXT: middle: in time
    await check("middle") {
      let first = startSleepers(50, .milliseconds(20), tolerance: .seconds(20))
      let last = startSleepers(50, .seconds(15), tolerance: .zero)
      await Task.yield()
      let result = await late(.milliseconds(60), tolerance: .milliseconds(60), clock)
      for task in first + last { task.cancel() }
      for task in first + last { _ = await task.value }
      return result
    }

    // More than are woken at a time, and one that they would join.
    // CHECK-NEXT: many: in time
    await check("many") {
      let last = startSleepers(1, .seconds(15), tolerance: .zero)
      try? await Task.sleep(nanoseconds: 20_000_000)
      let deadline = clock.now + .milliseconds(50)
      let first = (0..<100).map { _ in
        Task.detached {
          try? await Task.sleep(until: deadline, tolerance: .seconds(20), clock: clock)
          return clock.now - deadline
        }
      }
      var most = Duration.zero
      for task in first { most = max(most, await task.value) }
      for task in last { task.cancel() }
      return most
    }

    // The one that all of them would join is cancelled, before and after their own deadlines.
    for milliseconds in [10, 100] {
      // CHECK-NEXT: cancelled: in time
      // CHECK-NEXT: cancelled: in time
      await check("cancelled") {
        let last = startSleepers(500, .seconds(15), tolerance: .zero)
        try? await Task.sleep(nanoseconds: 20_000_000)
        let first = startSleepers(500, .milliseconds(50), tolerance: .seconds(20))
        try? await Task.sleep(nanoseconds: UInt64(milliseconds) * 1_000_000)
        for task in last { task.cancel() }
        var most = Duration.zero
        for task in first { most = max(most, await task.value) }
        return most
      }
    }
  }
}
