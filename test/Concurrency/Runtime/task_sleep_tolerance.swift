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

// Each sleep had a timer, which fired at its deadline.
// XFAIL: without_sleep-heap

// Sleeps whose tolerances overlap end together, each within its own.

@main struct Main {
  static func main() async {
    let count = 400
    let clock = ContinuousClock()
    let start = clock.now + .milliseconds(200)
    // A deadline a millisecond, and 800 ms of tolerance.
    let ends = await withTaskGroup(of: Duration.self) { group in
      for number in 0..<count {
        group.addTask {
          let deadline = start + .milliseconds(number)
          try? await Task.sleep(
            until: deadline, tolerance: .milliseconds(800), clock: clock)
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
    where next - one > .microseconds(300) { wakes += 1 }
    // CHECK: together
    print(wakes < count / 5 ? "together" : "\(wakes) times")
  }
}
