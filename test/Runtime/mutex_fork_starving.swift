// RUN: %target-run-simple-swift( -parse-as-library) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: synchronization
// UNSUPPORTED: use_os_stdlib
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// REQUIRES: OS=linux-gnu
// The child of a process with several threads cannot start any.
// UNSUPPORTED: tsan

// FUTEX_LOCK_PI has no mark for threads that starve, so there is no child.
// XFAIL: without_mutex-plain-futex

// A thread that starves has marked a Mutex, and the owner forks. That thread is not in the child: the owner finds
// nobody to wake there, unlocks for all, and can lock again, and so can a thread of the child.

import Glibc
import Synchronization

@_silgen_name("fork") func forkProcess() -> Int32

final class Shared: Sendable { let mutex = Mutex(0) }
let shared = Shared()
let mustStop = Atomic(false)

/// The word of the Mutex is the first one of the object. One of its bits says that a thread starves.
func somebodyStarves() -> Bool {
  let word = Unmanaged.passUnretained(shared).toOpaque().load(fromByteOffset: 16, as: UInt32.self)
  return word & 0x4000_0000 != 0
}

func start(
  _ body: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
) -> pthread_t {
  var thread = pthread_t()
  precondition(pthread_create(&thread, nil, body, nil) == 0)
  return thread
}

/// In the child, which has unlocked.
func lockAgain() -> Never {
  alarm(10)
  for _ in 0..<3 { shared.mutex.withLock { $0 += 1 } }
  let thread = start { _ in
    shared.mutex.withLock { $0 += 1 }
    return nil
  }
  pthread_join(thread, nil)
  _exit(5)
}

@main struct Main {
  static func main() {
    let waiter = start { _ in
      while !mustStop.load(ordering: .relaxed) { shared.mutex.withLock { $0 += 1 } }
      return nil
    }
    var children = 0, bad = 0
    for _ in 0..<2000 where children < 20 && bad == 0 {
      var child: Int32 = -1
      shared.mutex.withLock { _ in
        usleep(2000)
        if somebodyStarves() { child = forkProcess() }
      }
      if child == 0 { lockAgain() }
      if child > 0 {
        children += 1
        var status: Int32 = 0
        waitpid(child, &status, 0)
        if status != 5 << 8 { bad += 1 }
      }
    }
    mustStop.store(true, ordering: .relaxed)
    pthread_join(waiter, nil)
    // CHECK: 20 children, 0 bad
    print("\(children) children, \(bad) bad")
  }
}
