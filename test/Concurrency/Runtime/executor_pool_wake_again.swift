// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -target %target-future-triple -parse-as-library %import-libdispatch %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu
// XFAIL: without_executor-wake-again && !without_executor-pool

// A job that blocks on a task of its own does not wait for the watcher's longest interval, 4 ms, each
// time, although no other worker has been needed for what ran in between.

import Dispatch

/// Blocks the worker.
func wait(for isDone: DispatchSemaphore) { isDone.wait() }

@main struct Main {
  static func main() async {
    await Task.detached {
      // Other programs may keep the processors for some time. The fault takes as long each time.
      var medians: [Duration] = []
      for _ in 0..<20 {
        var times: [Duration] = []
        for _ in 0..<100 {
          for _ in 0..<50 { await Task.detached {}.value }
          let start = ContinuousClock.now
          let isDone = DispatchSemaphore(value: 0)
          Task.detached { isDone.signal() }
          wait(for: isDone)
          times.append(ContinuousClock.now - start)
        }
        medians.append(times.sorted()[times.count / 2])
        if medians.last! < .milliseconds(2) { return }
      }
      fatalError("\(medians)")
    }.value
  }
}
