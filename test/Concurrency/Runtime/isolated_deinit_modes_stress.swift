// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/deinit-modes.c -o %t/deinit-modes.o
// RUN: %target-build-swift -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/deinit-modes.h %s %S/Inputs/DeinitModes.swift %t/deinit-modes.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %env-SWIFT_IS_CURRENT_EXECUTOR_LEGACY_MODE_OVERRIDE=swift6 %target-run %t/a.out | %FileCheck %s

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// The executable preempts a symbol of the runtime library.
// REQUIRES: OS=linux-gnu

// The unpatched runtime has none of the modes but the first.
// XFAIL: without_async-deinit

// Many threads and tasks release objects of all kinds in each mode, under
// bindings that come and go. Every object and every value must go away exactly
// once, and every deinit must see what the mode says.

import Dispatch
import Glibc
import Synchronization

/// Objects of the test: how many were made, and how many deinits ended.
final class Count: Sendable {
  static let made = Atomic<Int>(0)
  static let ended = Atomic<Int>(0)
  init() { Count.made.add(1, ordering: .relaxed) }
  deinit { Count.ended.add(1, ordering: .releasing) }
}

final class Value: Sendable {
  static let alive = Atomic<Int>(0)
  let number: Int
  init(_ number: Int) {
    self.number = number
    Value.alive.add(1, ordering: .relaxed)
  }
  deinit {
    precondition(number != -1)
    Value.alive.subtract(1, ordering: .releasing)
  }
}

let keys = (0..<40).map { _ in TaskLocal<Value?>(wrappedValue: nil) }
enum TL { @TaskLocal static var base = -1 }

/// Call `body` with `count` values bound: key n to base + n, and some of them
/// twice.
func bind(_ base: Int, _ count: Int, _ body: () -> Void) {
  func bind(_ n: Int) {
    if n == count {
      TL.$base.withValue(base, operation: body)
    } else if n % 5 == 0 {
      keys[n].withValue(Value(-2)) { keys[n].withValue(Value(base + n)) { bind(n + 1) } }
    } else {
      keys[n].withValue(Value(base + n)) { bind(n + 1) }
    }
  }
  bind(0)
}

/// What a deinit has to find, given what was bound at the release.
struct Expected: Sendable {
  let mode: DeinitMode
  let base: Int
  let count: Int

  func check() {
    let copies = mode == .copy || mode == .asyncCopy
    precondition(TL.base == (copies ? base : -1))
    for (n, key) in keys.enumerated() {
      precondition(key.get()?.number == (copies && n < count ? base + n : nil))
    }
    keys[0].withValue(Value(7)) { precondition(keys[0].get()!.number == 7) }
    precondition(TL.base == (copies ? base : -1))
  }
}

@globalActor actor First: GlobalActor { static let shared = First() }
@globalActor actor Second: GlobalActor { static let shared = Second() }

final class OnFirst: Sendable {
  let count = Count()
  let expected: Expected
  let child: OnSecond?
  init(_ expected: Expected, _ child: OnSecond? = nil) {
    self.expected = expected
    self.child = child
  }
  @First deinit { expected.check() }
}

final class OnSecond: Sendable {
  let count = Count()
  let expected: Expected
  let child: OnFirst?
  init(_ expected: Expected, _ child: OnFirst? = nil) {
    self.expected = expected
    self.child = child
  }
  @Second deinit { expected.check() }
}

actor Itself {
  let count = Count()
  let expected: Expected
  init(_ expected: Expected) { self.expected = expected }
  isolated deinit {
    self.assertIsolated()
    expected.check()
  }
}

/// The half of each async deinit that suspends.
func setBodies() {
  setAsyncBody(of: OnSecond.self) {
    await Task.yield()
    $0.expected.check()
  }
  setAsyncBody(of: Itself.self) {
    if $0.expected.count % 2 == 0 { await Task.yield() }
    $0.expected.check()
  }
}

func release(_ mode: DeinitMode, worker: Int, rounds: Int) {
  for round in 0..<rounds {
    let count = (round * 7 + worker) % (keys.count + 1)
    let expected = Expected(mode: mode, base: worker * 1000 + round, count: count)
    bind(expected.base, count) {
      switch round % 4 {
      case 0: _ = OnFirst(expected)
      // The objects of a chain are isolated to two actors in turn: each hops.
      case 1: _ = OnFirst(expected, OnSecond(expected, OnFirst(expected)))
      case 2: _ = OnSecond(expected)
      default: _ = Itself(expected)
      }
    }
  }
}

@main struct Main {
  static func main() async {
    setBodies()
    for mode in [DeinitMode.reset, .copy, .async, .asyncCopy] {
      mode.use()
      let threads = DispatchGroup()
      // Threads without a task, and tasks, at the same time.
      for worker in 0..<4 {
        threads.enter()
        var thread = pthread_t()
        let work = Unmanaged.passRetained(DispatchWorkItem {
          release(mode, worker: worker, rounds: 500)
          threads.leave()
        })
        pthread_create(&thread, nil, { work in
          Unmanaged<DispatchWorkItem>.fromOpaque(work!).takeRetainedValue().perform()
          return nil
        }, work.toOpaque())
        pthread_detach(thread)
      }
      await withTaskGroup(of: Void.self) { group in
        for worker in 4..<8 {
          group.addTask { release(mode, worker: worker, rounds: 500) }
        }
      }
      await withCheckedContinuation { done in
        threads.notify(queue: .global()) { done.resume() }
      }
      while Count.ended.load(ordering: .acquiring) < Count.made.load(ordering: .relaxed)
        || Value.alive.load(ordering: .acquiring) > 0 {
        try? await Task.sleep(nanoseconds: 100_000)
      }
      // Nothing more may happen: what ends twice, ends soon after.
      try? await Task.sleep(nanoseconds: 10_000_000)
      print("\(mode): made \(Count.made.exchange(0, ordering: .relaxed)),",
            "ended \(Count.ended.exchange(0, ordering: .relaxed)),",
            "values \(Value.alive.load(ordering: .relaxed))")
    }
  }
}

// CHECK: reset: made 6000, ended 6000, values 0
// CHECK: copy: made 6000, ended 6000, values 0
// CHECK: async: made 6000, ended 6000, values 0
// CHECK: asyncCopy: made 6000, ended 6000, values 0
