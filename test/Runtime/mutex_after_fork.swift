// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/../Concurrency/Runtime/Inputs/child-process.c -o %t/child-process.o
// RUN: %target-build-swift -parse-as-library -import-objc-header %S/../Concurrency/Runtime/Inputs/child-process.h %s %t/child-process.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: synchronization
// UNSUPPORTED: use_os_stdlib
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// REQUIRES: OS=linux-gnu
// In the child of another thread, what the first thread refers to counts as leaked.
// UNSUPPORTED: asan
// The child of a process with several threads cannot start any.
// UNSUPPORTED: tsan

// The kernel looks for the owner by the ID that the thread had in the parent: the
// child ends with "Unknown error occurred while attempting to acquire a Mutex".
// XFAIL: without_mutex-plain-futex

// In a forked child, two threads and more contend for a Mutex. The thread that forked
// locks with the ID that the client has cached in the parent; the library, which the
// parent may not have called, can have cached another.

import Glibc
import Synchronization

final class Shared: Sendable {
  let mutex = Mutex(0)
  let plain = Mutex(())
  let isHeld = Atomic(false)
}

let shared = Shared()

func start(_ body: @escaping @convention(c) (UnsafeMutableRawPointer?)
             -> UnsafeMutableRawPointer?) -> pthread_t {
  var thread = pthread_t()
  precondition(pthread_create(&thread, nil, body, nil) == 0)
  return thread
}

/// Have one thread hold the mutex until the other, a new one, waits for it.
func holdAndWait() {
  let waiter = shared.mutex.withLock { _ in
    let waiter = start { _ in
      shared.mutex.withLock { $0 += 1 }
      return nil
    }
    usleep(100_000)
    return waiter
  }
  pthread_join(waiter, nil)
}

func waitForOther() {
  shared.isHeld.store(false, ordering: .relaxed)
  let holder = start { _ in
    shared.mutex.withLock {
      shared.isHeld.store(true, ordering: .releasing)
      while shared.isHeld.load(ordering: .acquiring) { usleep(1_000) }
      usleep(100_000)
      $0 += 1
    }
    return nil
  }
  while !shared.isHeld.load(ordering: .acquiring) { usleep(1_000) }
  precondition(shared.mutex.withLockIfAvailable { $0 += 1 } == nil)
  shared.isHeld.store(false, ordering: .releasing)
  shared.mutex.withLock { $0 += 1 }
  pthread_join(holder, nil)
}

func countTogether() {
  let count = shared.mutex.withLock { $0 }
  let threads = (0..<4).map { _ in
    start { _ in
      for _ in 0..<20_000 { shared.mutex.withLock { $0 += 1 } }
      return nil
    }
  }
  for _ in 0..<20_000 { shared.mutex.withLock { $0 += 1 } }
  for thread in threads { pthread_join(thread, nil) }
  precondition(shared.mutex.withLock { $0 } == count + 100_000)
}

func contend(_: UnsafeRawPointer?) -> Int32 {
  alarm(30)
  holdAndWait()
  waitForOther()
  countTogether()
  return 0
}

/// The thread that forked has locked it in the parent.
func unlockForWaiter(_: UnsafeRawPointer?) -> Int32 {
  alarm(30)
  let waiter = start { _ in
    shared.plain._unsafeLock()
    shared.plain._unsafeUnlock()
    return nil
  }
  usleep(100_000)
  shared.plain._unsafeUnlock()
  pthread_join(waiter, nil)
  return 0
}

@main struct Main {
  static func main() {
    // CHECK: first use: ChildResult(status: 0, signal: 0, errorCount: 0)
    print("first use:", runChild(contend, nil))

    // From here on, the ID is cached in the program.
    shared.mutex.withLock { $0 += 1 }
    // CHECK: used before: ChildResult(status: 0, signal: 0, errorCount: 0)
    print("used before:", runChild(contend, nil))

    // CHECK: held: ChildResult(status: 0, signal: 0, errorCount: 0)
    shared.plain._unsafeLock()
    print("held:", runChild(unlockForWaiter, nil))
    shared.plain._unsafeUnlock()

    // From here on, the ID is cached in the library, too: the parent has contended.
    holdAndWait()
    // CHECK: contended before: ChildResult(status: 0, signal: 0, errorCount: 0)
    print("contended before:", runChild(contend, nil))
    // In the child, the thread that forked is the first one. It has another ID, too.
    // CHECK: other thread: ChildResult(status: 0, signal: 0, errorCount: 0)
    pthread_join(start { _ in
      holdAndWait()
      print("other thread:", runChild(contend, nil))
      return nil
    }, nil)
    // CHECK: child of a child: ChildResult(status: 0, signal: 0, errorCount: 0)
    print("child of a child:", runChild({ _ in
      _ = contend(nil)
      let result = runChild(contend, nil)
      return result.signal == 0 ? result.status : 3
    }, nil))
    // The parent goes on.
    holdAndWait()
    countTogether()
    // CHECK: done
    print("done")
  }
}
