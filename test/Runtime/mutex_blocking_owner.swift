// RUN: %target-run-simple-swift( -parse-as-library) | %FileCheck %s
// REQUIRES: executable_test
// REQUIRES: synchronization
// UNSUPPORTED: use_os_stdlib
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// REQUIRES: OS=linux-gnu

// A thread sleeps while it has a Mutex, and locks it again at once. Others, which lock for
// a moment only, are served in the meantime: each of them waits for a few turns of that
// thread, whatever their number and the length of its turns.

import Glibc
import Synchronization

@_silgen_name("sched_setaffinity")
func setAffinity(_: Int32, _ size: Int, _: UnsafeRawPointer) -> Int32
@_silgen_name("sched_getcpu")
func currentProcessor() -> Int32

func microseconds() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
}

final class Shared: Sendable {
  let mutex = Mutex(0)
  let mustStop = Atomic(false)
  let longest = Atomic(0), served = Atomic(0), turns = Atomic(0)
  let sleep: UInt32
  init(sleep: UInt32) { self.sleep = sleep }
}

func start(_ shared: Shared,
           _ body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?) -> pthread_t {
  var thread = pthread_t()
  let status = pthread_create(&thread, nil, body, Unmanaged.passUnretained(shared).toOpaque())
  precondition(status == 0)
  return thread
}

/// Let the owner have turns of `sleep` us for half a second, beside `waiters`. Nil if all are served.
func unfairness(sleep: UInt32, waiters count: Int) -> String? {
  let shared = Shared(sleep: sleep)
  let owner = start(shared) {
    let shared = Unmanaged<Shared>.fromOpaque($0!).takeUnretainedValue()
    while !shared.mustStop.load(ordering: .relaxed) {
      shared.mutex.withLock {
        $0 += 1
        _ = usleep(shared.sleep)
      }
      shared.turns.add(1, ordering: .relaxed)
    }
    return nil
  }
  let waiters = (0..<count).map { _ in
    start(shared) {
      let shared = Unmanaged<Shared>.fromOpaque($0!).takeUnretainedValue()
      while !shared.mustStop.load(ordering: .relaxed) {
        let begin = microseconds()
        shared.mutex.withLock { $0 += 1 }
        shared.longest.max(microseconds() - begin, ordering: .relaxed)
        shared.served.add(1, ordering: .relaxed)
        usleep(100)
      }
      return nil
    }
  }
  usleep(500_000)
  shared.mustStop.store(true, ordering: .relaxed)
  for thread in waiters + [owner] { pthread_join(thread, nil) }

  let longest = shared.longest.load(ordering: .relaxed) / 1_000
  let served = shared.served.load(ordering: .relaxed)
  let turns = shared.turns.load(ordering: .relaxed)
  precondition(shared.mutex.withLock { $0 } == served + turns)
  // Without a hand-over it is all of the half second, and a waiter is served once, when the
  // owner has ended.
  let isFair = longest < 400 && served >= 10 * count && turns > 10
  return isFair ? nil : "\(longest) ms, \(served) served, \(turns) turns"
}

/// A busy machine may have each thread wait for some time slices, so three times.
func run(sleep: UInt32, waiters count: Int) {
  var found: String? = nil
  for _ in 0..<3 {
    found = unfairness(sleep: sleep, waiters: count)
    if found == nil { break }
  }
  print(found ?? "fair", "beside \(sleep) us, \(count)")
}

@main struct Main {
  static func main() {
    setvbuf(stdout, nil, _IOLBF, 0)
    // CHECK: fair beside 5000 us, 1
    run(sleep: 5_000, waiters: 1)
    // CHECK: fair beside 5000 us, 2
    run(sleep: 5_000, waiters: 2)
    // CHECK: fair beside 5000 us, 4
    run(sleep: 5_000, waiters: 4)
    // CHECK: fair beside 1000 us, 1
    run(sleep: 1_000, waiters: 1)
    // CHECK: fair beside 200 us, 4
    run(sleep: 200, waiters: 4)

    let processor = Int(currentProcessor())
    var processors = [UInt8](repeating: 0, count: 128)
    processors[processor / 8] = 1 << (processor % 8)
    precondition(setAffinity(0, processors.count, &processors) == 0)
    // CHECK: fair beside 5000 us, 1
    run(sleep: 5_000, waiters: 1)
    // CHECK: fair beside 5000 us, 4
    run(sleep: 5_000, waiters: 4)
  }
}
