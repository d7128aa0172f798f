// RUN: %empty-directory(%t)
// RUN: %target-build-swift -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: not --crash env %env-SWIFT_BACKTRACE=enable=off %target-run %t/a.out lock-twice 2>&1 | %FileCheck --check-prefix=LOCK %s
// RUN: not --crash env %env-SWIFT_BACKTRACE=enable=off %target-run %t/a.out lock-twice-contended 2>&1 | %FileCheck --check-prefix=LOCK %s
// RUN: not --crash env %env-SWIFT_BACKTRACE=enable=off %target-run %t/a.out try-twice 2>&1 | %FileCheck --check-prefix=TRY %s
// RUN: not --crash env %env-SWIFT_BACKTRACE=enable=off %target-run %t/a.out try-twice-other-thread 2>&1 | %FileCheck --check-prefix=TRY %s
// RUN: not --crash env %env-SWIFT_BACKTRACE=enable=off %target-run %t/a.out unlock-unlocked 2>&1 | %FileCheck --check-prefix=UNLOCK %s
// RUN: not --crash env %env-SWIFT_BACKTRACE=enable=off %target-run %t/a.out unlock-on-other-thread 2>&1 | %FileCheck --check-prefix=UNLOCK %s
// RUN: not --crash env %env-SWIFT_BACKTRACE=enable=off %target-run %t/a.out unlock-of-other-thread 2>&1 | %FileCheck --check-prefix=UNLOCK %s
// RUN: not --crash env %env-SWIFT_BACKTRACE=enable=off %target-run %t/a.out unlock-of-ended-thread 2>&1 | %FileCheck --check-prefix=UNLOCK %s

// REQUIRES: executable_test
// REQUIRES: synchronization
// UNSUPPORTED: use_os_stdlib
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// REQUIRES: OS=linux-gnu

// LOCK: Fatal error: Recursive call to lock Mutex
// TRY: Fatal error: Attempt to try to lock Mutex in already acquired thread
// UNLOCK: Fatal error: Call to unlock Mutex on a thread which hasn't acquired the lock

// A Mutex that is used wrongly ends the process with a message. None of this hangs.

import Glibc
import Synchronization

final class Shared: Sendable { let mutex = Mutex(()) }
let shared = Shared()

func start(_ body: @escaping @convention(c) (UnsafeMutableRawPointer?)
             -> UnsafeMutableRawPointer?) -> pthread_t {
  var thread = pthread_t()
  precondition(pthread_create(&thread, nil, body, nil) == 0)
  return thread
}

@main struct Main {
  static func main() {
    alarm(20)
    switch CommandLine.arguments[1] {
    case "lock-twice":
      shared.mutex.withLock { _ in shared.mutex.withLock { _ in } }
    case "lock-twice-contended":
      shared.mutex.withLock { _ in
        _ = start { _ in shared.mutex.withLock { _ in }; return nil }
        usleep(100_000)
        shared.mutex.withLock { _ in }
      }
    case "try-twice":
      shared.mutex.withLock { _ in _ = shared.mutex.withLockIfAvailable { _ in } }
    case "try-twice-other-thread":
      pthread_join(start { _ in
        shared.mutex.withLock { _ in _ = shared.mutex.withLockIfAvailable { _ in } }
        return nil
      }, nil)
    case "unlock-unlocked":
      shared.mutex._unsafeUnlock()
    case "unlock-on-other-thread":
      shared.mutex._unsafeLock()
      pthread_join(start { _ in shared.mutex._unsafeUnlock(); return nil }, nil)
    case "unlock-of-other-thread":
      _ = start { _ in shared.mutex._unsafeLock(); sleep(10); return nil }
      usleep(100_000)
      shared.mutex._unsafeUnlock()
    case "unlock-of-ended-thread":
      pthread_join(start { _ in shared.mutex._unsafeLock(); return nil }, nil)
      pthread_join(start { _ in shared.mutex._unsafeUnlock(); return nil }, nil)
    default:
      fatalError("no such case")
    }
  }
}
