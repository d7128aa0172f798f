//===--- MutexContention.swift --------------------------------------------===//
//
// This source file is part of the Swift.org open source project
//
// Copyright (c) 2026 Apple Inc. and the Swift project authors
// Licensed under Apache License v2.0 with Runtime Library Exception
//
// See https://swift.org/LICENSE.txt for license information
// See https://swift.org/CONTRIBUTORS.txt for the list of Swift project authors
//
//===----------------------------------------------------------------------===//

// Threads that stand ready lock a Mutex, work inside, unlock it and work outside.
//
// Uncontended:  one thread, 1,000 times.
// IfAvailable:  another thread has it, 100 attempts.
// Threads.N:    N threads, 1,000 times each, some 0.5 us of work inside: so long that they
//               meet on a busy machine, too.
// Even.N:       as much work outside as inside.
// Long.N:       10 us inside, 100 times each.
// Pthread.N:    Threads.N with a pthread_mutex (control).
// Blocking.N:   N threads, 4 times each, beside one that sleeps 1 ms while it has the Mutex,
//               and locks it again at once.

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif
#if !os(Windows)
import Dispatch
import Synchronization
#endif
import TestsUtils

#if os(Windows)
public let benchmarks: [BenchmarkInfo] = []
#else
public var benchmarks: [BenchmarkInfo] {
  guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, *) else { return [] }
  let alone = Locked(), held = Held()
  var entries = [
    BenchmarkInfo(
      name: "Mutex.Uncontended",
      runFunction: { for _ in 0..<1000 * $0 { alone.lock(inside: 0) } },
      tags: [.concurrency]),
    BenchmarkInfo(
      name: "Mutex.IfAvailable", runFunction: held.attempt, tags: [.concurrency],
      setUpFunction: held.start, tearDownFunction: held.stop),
  ]
  for count in [2, 4, 8, 16] {
    entries.append(entry("Threads", count) { $0.lock(inside: 500) })
  }
  for count in [2, 8] {
    entries.append(entry("Even", count) {
      $0.lock(inside: 500)
      work(500)
    })
    entries.append(entry("Long", count, rounds: 100) { $0.lock(inside: 10_000) })
    entries.append(entry("Pthread", count) { $0.lockPthread(inside: 500) })
  }
  for count in [1, 4] {
    let threads = Threads(count, rounds: 4) { $0.lock(inside: 0) }
    let owner = Blocking(threads.locked)
    entries.append(BenchmarkInfo(
      name: "Mutex.Blocking.\(count)Waiter\(count == 1 ? "" : "s")",
      runFunction: threads.run, tags: [.concurrency],
      setUpFunction: {
        owner.start()
        threads.start()
      },
      tearDownFunction: {
        threads.stop()
        owner.stop()
      }))
  }
  return entries
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, *)
private func entry(
  _ name: String, _ count: Int, rounds: Int = 1000,
  _ body: @escaping (Locked) -> Void
) -> BenchmarkInfo {
  let threads = Threads(count, rounds: rounds, body)
  return BenchmarkInfo(
    name: "Mutex.\(name).\(count)", runFunction: threads.run, tags: [.concurrency],
    setUpFunction: threads.start, tearDownFunction: threads.stop)
}

/// Takes about `count` cycles.
@inline(never)
private func work(_ count: Int) {
  for round in 0..<count { blackHole(round) }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, *)
private final class Locked: @unchecked Sendable {
  private let mutex = Mutex(0)
  private let pthread = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var count = 0

  init() { pthread_mutex_init(pthread, nil) }

  func lock(inside: Int) {
    mutex.withLock {
      $0 &+= 1
      work(inside)
    }
  }

  func lockPthread(inside: Int) {
    pthread_mutex_lock(pthread)
    count &+= 1
    work(inside)
    pthread_mutex_unlock(pthread)
  }

  func isLocked() -> Bool { mutex.withLockIfAvailable { $0 &+= 1 } == nil }

  func hold(while body: () -> Void) { mutex.withLock { _ in body() } }
}

private func startThread(_ body: @escaping () -> Void) {
  final class Body {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
  }
  let context = Unmanaged.passRetained(Body(body)).toOpaque()
#if canImport(Darwin)
  var thread: pthread_t?
  let status = pthread_create(&thread, nil, {
    Unmanaged<Body>.fromOpaque($0).takeRetainedValue().body()
    return nil
  }, context)
  pthread_detach(thread!)
#else
  var thread = pthread_t()
  let status = pthread_create(&thread, nil, {
    Unmanaged<Body>.fromOpaque($0!).takeRetainedValue().body()
    return nil
  }, context)
  pthread_detach(thread)
#endif
  check(status == 0)
}

/// Threads that wait for `run`.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, *)
private final class Threads: @unchecked Sendable {
  private let count: Int, rounds: Int
  private let body: (Locked) -> Void
  private let begin = DispatchSemaphore(value: 0), end = DispatchSemaphore(value: 0)
  let locked = Locked()
  private var iterations = 0

  init(_ count: Int, rounds: Int, _ body: @escaping (Locked) -> Void) {
    self.count = count
    self.rounds = rounds
    self.body = body
  }

  func start() {
    for _ in 0..<count {
      startThread { [self] in
        while true {
          begin.wait()
          if iterations == 0 { break }
          for _ in 0..<iterations * rounds { body(locked) }
          end.signal()
        }
        end.signal()
      }
    }
  }

  func run(_ n: Int) {
    iterations = n
    for _ in 0..<count { begin.signal() }
    for _ in 0..<count { end.wait() }
  }

  func stop() { run(0) }
}

/// A thread that holds a mutex while it sleeps, from `start` to `stop`.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, *)
private final class Blocking: @unchecked Sendable {
  private let locked: Locked
  private let mustStop = Atomic(false)
  private let end = DispatchSemaphore(value: 0)

  init(_ locked: Locked) { self.locked = locked }

  func start() {
    mustStop.store(false, ordering: .relaxed)
    startThread { [self] in
      while !mustStop.load(ordering: .relaxed) {
        locked.hold { usleep(1_000) }
      }
      end.signal()
    }
  }

  func stop() {
    mustStop.store(true, ordering: .relaxed)
    end.wait()
  }
}

/// A mutex that another thread holds from `start` to `stop`.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, *)
private final class Held: @unchecked Sendable {
  private let locked = Locked()
  private let isHeld = DispatchSemaphore(value: 0)
  private let mayRelease = DispatchSemaphore(value: 0)

  func start() {
    startThread { [self] in
      locked.hold {
        isHeld.signal()
        mayRelease.wait()
      }
      isHeld.signal()
    }
    isHeld.wait()
  }

  func attempt(_ n: Int) {
    for _ in 0..<100 * n { check(locked.isLocked()) }
  }

  func stop() {
    mayRelease.signal()
    isHeld.wait()
  }
}
#endif
