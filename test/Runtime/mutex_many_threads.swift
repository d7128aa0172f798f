// RUN: %target-run-simple-swift( -parse-as-library) | %FileCheck %s
// REQUIRES: executable_test
// REQUIRES: synchronization
// UNSUPPORTED: use_os_stdlib
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// REQUIRES: OS=linux-gnu

// Many threads contend for one Mutex: no two have it at once, no wake-up is lost, and
// none starves, whatever the scheduler does. Signals interrupt those that wait; one thread
// has the lowest priority of all; for a while all share one processor.

import Glibc
import Synchronization

@_silgen_name("sched_getaffinity")
func getAffinity(_: Int32, _ size: Int, _: UnsafeMutableRawPointer) -> Int32
@_silgen_name("sched_setaffinity")
func setAffinity(_: Int32, _ size: Int, _: UnsafeRawPointer) -> Int32

@_silgen_name("setpriority")
func setPriority(_: Int32, _: UInt32, _: Int32) -> Int32

final class Shared: Sendable {
  struct Inside { var count = 0, isTaken = false }
  let mutex = Mutex(Inside())
  let mustStop = Atomic(false)
  let served: [Atomic<Int>.Box]
  init(threads: Int) { served = (0..<threads).map { _ in Atomic<Int>.Box() } }
}

extension Atomic where Value == Int {
  final class Box: Sendable { let value = Atomic<Int>(0) }
}

final class Start {
  let shared: Shared, number: Int, isNice: Bool
  init(_ shared: Shared, _ number: Int, isNice: Bool) {
    self.shared = shared
    self.number = number
    self.isNice = isNice
  }
}

/// Let `threads` threads lock for half a second, and return how often the one that was
/// served least had the lock.
func contend(threads count: Int, isOneNice: Bool = false, signals: Bool = false) -> Int {
  let shared = Shared(threads: count)
  let threads = (0..<count).map { number in
    var thread = pthread_t()
    let start = Unmanaged.passRetained(
      Start(shared, number, isNice: isOneNice && number == 0)).toOpaque()
    let status = pthread_create(&thread, nil, { start in
      let start = Unmanaged<Start>.fromOpaque(start!).takeRetainedValue()
      let shared = start.shared
      if start.isNice { precondition(setPriority(0 /* PRIO_PROCESS: the calling thread */, 0, 19) == 0) }
      var round = UInt64(start.number)
      while !shared.mustStop.load(ordering: .relaxed) {
        round = round &* 6364136223846793005 &+ 1442695040888963407
        let change: (inout sending Shared.Inside) -> sending Void = {
          precondition(!$0.isTaken)
          $0.isTaken = true
          $0.count += 1
          for _ in 0..<(round >> 56) { withUnsafePointer(to: &$0.count) { _ in } }
          if round >> 54 == 0 { usleep(100) }
          $0.isTaken = false
        }
        if round & 0x100_0000 == 0 {
          shared.mutex.withLock(change)
        } else if shared.mutex.withLockIfAvailable(change) == nil {
          shared.mutex.withLock(change)
        }
        shared.served[start.number].value.add(1, ordering: .relaxed)
      }
      return nil
    }, start)
    precondition(status == 0)
    return thread
  }
  for round in 0..<500 {
    usleep(1_000)
    if signals { pthread_kill(threads[round % count], SIGUSR1) }
  }
  // Nobody is left out: it may take a while on a busy machine, but not for ever.
  let deadline = time(nil) + 60
  while shared.served.contains(where: { $0.value.load(ordering: .relaxed) < 5 }),
        time(nil) < deadline {
    usleep(10_000)
  }
  shared.mustStop.store(true, ordering: .relaxed)
  for thread in threads { pthread_join(thread, nil) }
  let served = shared.served.map { $0.value.load(ordering: .relaxed) }
  precondition(shared.mutex.withLock { $0.count } == served.reduce(0, +))
  return served.min()!
}

@main struct Main {
  static func main() {
    // Without SA_RESTART: FUTEX_WAIT returns EINTR.
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in }
    precondition(sigaction(SIGUSR1, &action, nil) == 0)

    for threads in [1, 2, 3, 8, 64] {
      precondition(contend(threads: threads) >= 5)
    }
    // CHECK: threads
    print("threads")
    precondition(contend(threads: 4, signals: true) >= 5)
    // CHECK: signals
    print("signals")
    precondition(contend(threads: 4, isOneNice: true) >= 5)
    // CHECK: nice
    print("nice")

    var processors = [UInt8](repeating: 0, count: 128)
    precondition(getAffinity(0, processors.count, &processors) == 0)
    let first = processors.firstIndex { $0 != 0 }!
    let bit = processors[first] & ~(processors[first] &- 1)
    processors = [UInt8](repeating: 0, count: 128)
    processors[first] = bit
    precondition(setAffinity(0, processors.count, &processors) == 0)
    precondition(contend(threads: 4) >= 5)
    precondition(contend(threads: 4, isOneNice: true) >= 5)
    // CHECK: one processor
    print("one processor")
  }
}
