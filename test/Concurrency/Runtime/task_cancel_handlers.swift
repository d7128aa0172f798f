// RUN: %target-run-simple-swift( -O -target %target-future-triple %import-libdispatch -parse-as-library) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// What is promised of cancellation handlers, whoever removes their records.

import Dispatch
import Synchronization

final class Log: Sendable { let lines = Mutex<[String]>([]) }

func nest(_ depth: Int, _ log: Log, _ body: @Sendable () async -> Void) async {
  if depth == 0 { return await body() }
  await withTaskCancellationHandler {
    await nest(depth - 1, log, body)
  } onCancel: {
    log.lines.withLock { $0.append("\(depth)") }
  }
}

@main struct Main {
  static func main() async {
    // The innermost is called first.
    let log = Log()
    await Task {
      await nest(4, log) { withUnsafeCurrentTask { $0!.cancel() } }
      // Now they are called at once.
      await nest(2, log) {}
    }.value
    // CHECK: 1 2 3 4 2 1
    print(log.lines.withLock { $0 }.joined(separator: " "))

    // Those whose scope has ended are not called.
    let other = Log()
    await Task {
      for _ in 0..<1000 { await nest(3, other) {} }
      withUnsafeCurrentTask { $0!.cancel() }
    }.value
    // CHECK: calls: 0
    print("calls:", other.lines.withLock { $0.count })
  }
}
