// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/futex-calls.c -o %t/futex-calls.o
// RUN: %target-build-swift -parse-as-library -import-objc-header %S/Inputs/futex-calls.h %s %t/futex-calls.o -o %t/a.out
// RUN: %target-codesign %t/a.out

// RUN: %target-run %t/a.out > %t/unset 2>&1
// RUN: %FileCheck --check-prefixes=ALL,PLAIN %s < %t/unset
// RUN: env %env-SWIFT_MUTEX_PI=0 %target-run %t/a.out > %t/0 2>&1
// RUN: %FileCheck --check-prefixes=ALL,PLAIN %s < %t/0
// RUN: env %env-SWIFT_MUTEX_PI=1 %target-run %t/a.out > %t/1 2>&1
// RUN: %FileCheck --check-prefixes=ALL,PI %s < %t/1

// Whatever else it is set to: one warning, and what it is by default.
// RUN: env %env-SWIFT_MUTEX_PI=10 %target-run %t/a.out > %t/10 2>&1
// RUN: %FileCheck --check-prefixes=ALL,PLAIN %s < %t/10
// RUN: %FileCheck --check-prefix=WARNING -DVALUE=10 %s < %t/10
// RUN: env %env-SWIFT_MUTEX_PI=yes %target-run %t/a.out > %t/yes 2>&1
// RUN: %FileCheck --check-prefixes=ALL,PLAIN %s < %t/yes
// RUN: %FileCheck --check-prefix=WARNING -DVALUE=yes %s < %t/yes
// RUN: env %env-SWIFT_MUTEX_PI= %target-run %t/a.out > %t/empty 2>&1
// RUN: %FileCheck --check-prefixes=ALL,PLAIN %s < %t/empty
// RUN: %FileCheck --check-prefix=WARNING -DVALUE= %s < %t/empty
// RUN: cat %t/unset %t/0 %t/1 | %FileCheck --check-prefix=NO-WARNING %s

// REQUIRES: executable_test
// REQUIRES: synchronization
// UNSUPPORTED: use_os_stdlib
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// REQUIRES: OS=linux-gnu

// The unpatched library waits with FUTEX_LOCK_PI only, and calls for each attempt.
// XFAIL: without_mutex-plain-futex

// Which system calls a Mutex makes, by the operations of <linux/futex.h>.

import Glibc
import Synchronization

enum Operation {
  static let wait: Int32 = 9, wake: Int32 = 10 // FUTEX_WAIT_BITSET, FUTEX_WAKE_BITSET
  static let lockPI: Int32 = 6, unlockPI: Int32 = 7, tryLockPI: Int32 = 8
}

final class Shared: Sendable {
  let mutex = Mutex(0)
  let isHeld = Atomic(false), mayRelease = Atomic(false)
}

/// Call `body` while another thread holds the mutex. That one releases it when `body`
/// has stored to `mayRelease`, or else when `body` returns.
func whileHeld(_ body: (Shared) -> Void) {
  let shared = Shared()
  var thread = pthread_t()
  let status = pthread_create(&thread, nil, { context in
    let shared = Unmanaged<Shared>.fromOpaque(context!).takeUnretainedValue()
    shared.mutex.withLock { _ in
      shared.isHeld.store(true, ordering: .releasing)
      while !shared.mayRelease.load(ordering: .acquiring) { usleep(1_000) }
      // The other thread is about to lock: give it the time to wait.
      usleep(300_000)
    }
    return nil
  }, Unmanaged.passUnretained(shared).toOpaque())
  precondition(status == 0)
  while !shared.isHeld.load(ordering: .acquiring) { usleep(1_000) }
  body(shared)
  shared.mayRelease.store(true, ordering: .releasing)
  pthread_join(thread, nil)
}

@main struct Main {
  static func main() {
    setvbuf(stdout, nil, _IOLBF, 0)
    let mutex = Mutex(0)
    for _ in 0..<1_000 {
      mutex.withLock { $0 += 1 }
      mutex.withLockIfAvailable { $0 += 1 }!
    }
    // ALL: uncontended: 0
    print("uncontended:", futexCalls(-1))

    whileHeld { shared in
      for _ in 0..<1_000 {
        precondition(shared.mutex.withLockIfAvailable { $0 += 1 } == nil)
      }
      // PLAIN: attempts: 0
      // PI: attempts: 1000 FUTEX_TRYLOCK_PI
      let calls = futexCalls(-1)
      print("attempts:", calls, calls > 0 && calls == futexCalls(Operation.tryLockPI)
        ? "FUTEX_TRYLOCK_PI" : "")
    }

    let waits = futexCalls(Operation.wait), locks = futexCalls(Operation.lockPI)
    whileHeld { shared in
      shared.mayRelease.store(true, ordering: .releasing)
      shared.mutex.withLock { $0 += 1 }
    }
    // PLAIN: waited: true, wake: true, FUTEX_LOCK_PI: 0, FUTEX_UNLOCK_PI: 0
    // PI: waited: false, wake: false, FUTEX_LOCK_PI: {{[1-9]}}, FUTEX_UNLOCK_PI: {{[1-9]}}
    print("waited: \(futexCalls(Operation.wait) > waits),",
          "wake: \(futexCalls(Operation.wake) > 0),",
          "FUTEX_LOCK_PI: \(futexCalls(Operation.lockPI) - locks),",
          "FUTEX_UNLOCK_PI: \(futexCalls(Operation.unlockPI))")
  }
}

// WARNING: Warning: cannot parse value SWIFT_MUTEX_PI=[[VALUE]], defaulting to 0.
// WARNING-NOT: Warning
// NO-WARNING-NOT: Warning
