// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=0 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// It compares times.
// UNSUPPORTED: asan, tsan
// REQUIRES: OS=linux-gnu
// XFAIL: without_executor-lone-job && !without_executor-pool

// A single child of a task that computes on begins on another processor, request after request, although a
// request of awaited tasks has come between, which need one processor only.

import Glibc

/// How long after the task the child begins: the median of 40 requests, each of which rests first.
func delay() -> UInt64 {
  let times = (0..<40).map { _ in
    usleep(100)
    let begun = Counter()
    runBlocking(nil) {
      let start = nowInNanoseconds()
      async let child: Void = {
        begun.add(Int(nowInNanoseconds() - start))
        compute(400_000)
      }()
      compute(400_000)
      await child
    }
    return UInt64(begun.count)
  }
  return times.sorted()[times.count / 2]
}

func child() {
  guard processors > 1, width > 1 else { return print("one processor") }
  // Other programs may keep the processors for some time.
  for _ in 0..<20 {
    runBlocking(nil) { for _ in 0..<400 { await Task.detached {}.value } }
    let delay = delay()
    print("the child begins after \(delay) ns")
    if delay < 200_000 { return }
  }
  fail("the child begins when the task has computed")
}

@main struct Main {
  static func main() {
    Row.run([Row(name: "child") { child() }])
  }
}
