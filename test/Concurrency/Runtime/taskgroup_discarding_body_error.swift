// RUN: %target-run-simple-swift( -parse-as-library) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// XFAIL: without_taskgroup-body-error

// The error of a discarding group's body wins, also if a child has thrown before and another
// one is still running when the body throws.

struct Failure: Error {
  let who: String
  /// Lives as long as the error does.
  let life: Life

  init(_ who: String) {
    self.who = who
    life = Life()
  }
}

nonisolated(unsafe) var alive = 0

final class Life: Sendable {
  init() { alive += 1 }
  deinit { alive -= 1 }
}

/// What a group throws whose first child throws, and whose body throws then if it is told to. All run on the
/// main actor.
@MainActor func thrown(body: Bool, running: Int) async -> String {
  do {
    try await withThrowingDiscardingTaskGroup { group in
      nonisolated(unsafe) var mayEnd = false
      group.addTask { @MainActor in throw Failure("child") }
      for number in 0..<running {
        group.addTask { @MainActor in
          while !mayEnd { await Task.yield() }
          if number == 0 { throw Failure("later child") }
        }
      }
      // The group is cancelled by the child's error, which it stores before others see that.
      while !group.isCancelled { await Task.yield() }
      Task { @MainActor in
        // After the body, which now waits for its children.
        await Task.yield()
        mayEnd = true
      }
      if body { throw Failure("body") }
    }
    return "nothing"
  } catch let failure as Failure {
    return failure.who
  } catch {
    return "\(error)"
  }
}

@main struct Main {
  @MainActor static func main() async {
    for running in 0...3 {
      for body in [false, true] {
        let error = await thrown(body: body, running: running)
        print("\(running) running, body \(body ? "throws" : "returns"): \(error)")
      }
    }
    // Each error is destroyed, and so is each child.
    for _ in 0..<1000 where alive > 0 { await Task.yield() }
    print("alive: \(alive)")
  }
}

// CHECK: 0 running, body returns: child
// CHECK-NEXT: 0 running, body throws: body
// CHECK-NEXT: 1 running, body returns: child
// CHECK-NEXT: 1 running, body throws: body
// CHECK-NEXT: 2 running, body returns: child
// CHECK-NEXT: 2 running, body throws: body
// CHECK-NEXT: 3 running, body returns: child
// CHECK-NEXT: 3 running, body throws: body
// CHECK-NEXT: alive: 0
