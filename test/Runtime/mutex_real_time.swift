// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/real-time.c -o %t/real-time.o
// RUN: %target-build-swift -parse-as-library -import-objc-header %S/Inputs/real-time.h %s %t/real-time.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_MUTEX_PI=1 %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: synchronization
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// REQUIRES: OS=linux-gnu
// A thread that ThreadSanitizer knows does more than its body.
// UNSUPPORTED: tsan
// UNSUPPORTED: no_real_time_threads

// With SWIFT_MUTEX_PI=1, a thread of low priority that holds a Mutex runs while a real-time
// thread waits for it, and not the real-time thread of a priority between the two that
// computes for 400 ms on the same processor. On the unpatched runtime this is always so.

import Glibc
import Synchronization

let mutex = Mutex(0)
let isHeld = Atomic(false)
let waited = Atomic(0)

func milliseconds() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
}

@main struct Main {
  static func start(
    _ priority: Int32, _ body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
  ) -> pthread_t {
    var thread = pthread_t()
    switch startThread(&thread, priority, body) {
    case 0:
      return thread
    case EPERM where priority > 0:
      print("may not have real-time threads here")
      exit(0)
    case let error:
      fatalError("no thread: \(error)")
    }
  }

  static func main() {
    let low = start(0) { _ in
      mutex.withLock { _ in
        isHeld.store(true, ordering: .releasing)
        useProcessorTime(20)
      }
      return nil
    }
    while !isHeld.load(ordering: .acquiring) { usleep(100) }
    let high = start(20) { _ in
      let begin = milliseconds()
      mutex.withLock { _ in }
      waited.store(milliseconds() - begin, ordering: .relaxed)
      return nil
    }
    usleep(2000)
    let middle = start(10) { _ in
      useProcessorTime(400)
      return nil
    }
    for thread in [low, high, middle] { pthread_join(thread, nil) }
    let time = waited.load(ordering: .relaxed)
    print(time < 300 ? "at once" : "after \(time) ms")
  }
}

// The second is for a Swift checkout, which has no feature that tells.
// CHECK: {{at once|may not have real-time threads here}}
