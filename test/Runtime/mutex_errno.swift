// RUN: %target-run-simple-swift( -parse-as-library) | %FileCheck %s
// REQUIRES: executable_test
// REQUIRES: synchronization
// UNSUPPORTED: use_os_stdlib
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// REQUIRES: OS=linux-gnu

// A thread finds its own errno behind a Mutex that it has waited for: signals interrupt the wait, or the Mutex is
// unlocked just before the thread sleeps.

import Glibc
import Synchronization

let mutex = Mutex(0)
let isHeld = Atomic(false)
let changed = Atomic(0)

func start(_ body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?) -> pthread_t {
  var thread = pthread_t()
  let status = pthread_create(&thread, nil, body, nil)
  precondition(status == 0)
  return thread
}

/// Locks the Mutex, and counts if that changes errno.
func lock(_ body: () -> Void) {
  errno = 77
  mutex.withLock {
    $0 += 1
    body()
  }
  if errno != 77 { changed.add(1, ordering: .relaxed) }
}

@main struct Main {
  static func main() {
    for flags in [0, SA_RESTART] {
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { _ in }
      action.sa_flags = flags
      precondition(sigaction(SIGUSR1, &action, nil) == 0)

      isHeld.store(false, ordering: .relaxed)
      let owner = start { _ in
        mutex.withLock { _ in
          isHeld.store(true, ordering: .relaxed)
          usleep(300_000)
        }
        return nil
      }
      while !isHeld.load(ordering: .relaxed) { usleep(1000) }
      let waiter = start { _ in
        lock {}
        return nil
      }
      for _ in 0..<3 {
        usleep(40_000)
        pthread_kill(waiter, SIGUSR1)
      }
      pthread_join(waiter, nil)
      pthread_join(owner, nil)
    }
    // CHECK: signals: 0
    print("signals:", changed.load(ordering: .relaxed))

    let threads = (0..<4).map { _ in
      start { _ in
        for _ in 0..<200_000 { lock { for _ in 0..<40 { _ = getppid() } } }
        return nil
      }
    }
    for thread in threads { pthread_join(thread, nil) }
    // CHECK-NEXT: threads: 0
    print("threads:", changed.load(ordering: .relaxed))
  }
}
