// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/../Concurrency/Runtime/Inputs/child-process.c -o %t/child-process.o
// RUN: %target-build-swift -parse-as-library -import-objc-header %S/../Concurrency/Runtime/Inputs/child-process.h %s %t/child-process.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// UNSUPPORTED: use_os_stdlib
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// It is Linux's implementation of swift_once that has an ID of the thread.
// REQUIRES: OS=linux-gnu

// The unpatched runtime locks in the name of the parent's thread: both threads hang.
// XFAIL: without_once-after-fork

// In a forked child, and in a child of that, a second thread comes to a global while the
// thread that forked initializes it.

import Glibc

func initializeSlowly() -> Int {
  var ends: [Int32] = [0, 0]
  precondition(pipe(&ends) == 0)
  var thread = pthread_t()
  let end = UnsafeMutableRawPointer(bitPattern: UInt(ends[1]))
  let status = pthread_create(&thread, nil, { end in
    precondition(write(Int32(UInt(bitPattern: end)), "x", 1) == 1)
    exit(Slow.value == 42 ? 0 : 1)
  }, end)
  precondition(status == 0)

  var byte: UInt8 = 0
  precondition(read(ends[0], &byte, 1) == 1)
  // The other thread has all but called swift_once: give it the time to wait there.
  usleep(500_000)
  return 42
}

enum Slow { static let value = initializeSlowly() }

/// The second thread ends the process. SIGALRM if neither thread goes on.
func meet(_: UnsafeRawPointer?) -> Int32 {
  alarm(10)
  precondition(Slow.value == 42)
  pause()
  return 2
}

/// Initialized before the fork, so that the thread has called swift_once.
enum Early { static let value = getpid() }

@main struct Main {
  static func main() {
    precondition(Early.value == getpid())
    print("child:", runChild(meet, nil))
    print("child of a child:", runChild({ _ in
      let result = runChild(meet, nil)
      return result.signal == 0 ? result.status : 3
    }, nil))
  }
}

// CHECK: child: ChildResult(status: 0, signal: 0, errorCount: 0)
// CHECK: child of a child: ChildResult(status: 0, signal: 0, errorCount: 0)
