// RUN: %target-run-simple-swift( -parse-as-library) | %FileCheck %s
// REQUIRES: executable_test
// REQUIRES: synchronization
// UNSUPPORTED: use_os_stdlib
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// REQUIRES: OS=linux-gnu

// FUTEX_LOCK_PI puts such a thread at the end, too.
// XFAIL: without_mutex-plain-futex

// Threads that wait for a Mutex get signals, as a profiler sends them, and the next signal comes before their turn. When
// a handler has run, the kernel puts the thread at the end of its queue. The threads get the Mutex all the same.

import Glibc
import Synchronization

let mutex = Mutex(0)
let mustStop = Atomic(false)
let served = (0..<6).map { _ in Served() }

final class Served: Sendable { let count = Atomic(0) }

/// Holds the Mutex for 2 ms, again and again.
func start(_ served: Served) -> pthread_t {
  var thread = pthread_t()
  let status = pthread_create(&thread, nil, { served in
    let served = Unmanaged<Served>.fromOpaque(served!).takeUnretainedValue()
    while !mustStop.load(ordering: .relaxed) {
      mutex.withLock {
        usleep(2000)
        $0 += 1
      }
      served.count.add(1, ordering: .relaxed)
    }
    return nil
  }, Unmanaged.passUnretained(served).toOpaque())
  precondition(status == 0)
  return thread
}

@main struct Main {
  static func main() {
    for (name, flags) in [("restarted", SA_RESTART), ("interrupted", 0)] {
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { _ in }
      action.sa_flags = flags
      precondition(sigaction(SIGUSR1, &action, nil) == 0)

      mustStop.store(false, ordering: .relaxed)
      for one in served { one.count.store(0, ordering: .relaxed) }
      let threads = served.map(start)
      for _ in 0..<500 {
        usleep(4000)
        for thread in threads.prefix(2) { pthread_kill(thread, SIGUSR1) }
      }
      mustStop.store(true, ordering: .relaxed)
      for thread in threads { pthread_join(thread, nil) }

      let counts = served.map { $0.count.load(ordering: .relaxed) }
      // A fifth of its share is enough: other programs may run, too.
      let isServed = counts.prefix(2).allSatisfy { $0 * 6 * 5 > counts.reduce(0, +) }
      // CHECK: restarted: served
      // CHECK: interrupted: served
      print("\(name):", isServed ? "served" : "\(counts)")
    }
  }
}
