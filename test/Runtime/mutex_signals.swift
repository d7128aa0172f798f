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
// a handler has run, the kernel puts the thread at the end of its queue. The threads get the Mutex all the same, and
// those that wait beside them without a signal do, too.

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
    for (name, flags, interval, signalled) in [
      ("restarted", SA_RESTART, 4000, 0..<2), ("interrupted", 0, 4000, 0..<2),
      // A signal in less time than one of them has the Mutex.
      ("often", SA_RESTART, 1000, 0..<3),
    ] {
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { _ in }
      action.sa_flags = flags
      precondition(sigaction(SIGUSR1, &action, nil) == 0)

      mustStop.store(false, ordering: .relaxed)
      for one in served { one.count.store(0, ordering: .relaxed) }
      let threads = served.map(start)
      for _ in 0..<2_000_000 / interval {
        for thread in threads[signalled] {
          usleep(UInt32(interval / signalled.count))
          pthread_kill(thread, SIGUSR1)
        }
      }
      mustStop.store(true, ordering: .relaxed)
      for thread in threads { pthread_join(thread, nil) }

      let counts = served.map { $0.count.load(ordering: .relaxed) }
      // A fifth of its share is enough: other programs may run, too.
      let isServed = counts.map { $0 * 6 * 5 > counts.reduce(0, +) }
      // CHECK: restarted: all true, with signals true, without true
      // CHECK: interrupted: all true, with signals true, without true
      // Those that never sleep for long enough get less than their share, but they get it.
      // CHECK: often: all true, with signals {{.*}}, without true
      let areServed = isServed[signalled].allSatisfy { $0 }
      let areOthersServed = isServed[signalled.upperBound...].allSatisfy { $0 }
      let areAll = counts.allSatisfy { $0 > 0 }
      print("\(name): all \(areAll), with signals \(areServed), without \(areOthersServed), \(counts)")
    }
  }
}
