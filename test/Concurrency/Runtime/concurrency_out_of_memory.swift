// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/child-process.c -o %t/child-process.o
// RUN: %target-clang -x c -c %S/Inputs/failing-malloc.c -o %t/failing-malloc.o
// RUN: %target-clang -x c -c %S/Inputs/deinit-modes.c -o %t/deinit-modes.o
// RUN: %target-build-swift -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/out-of-memory.h %s %S/Inputs/DeinitModes.swift %S/Inputs/DeinitTestSupport.swift %t/child-process.o %t/failing-malloc.o %t/deinit-modes.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// It replaces the malloc of the C library, and a symbol of the runtime library.
// REQUIRES: OS=linux-gnu
// A sanitizer has a malloc and an mmap of its own.
// UNSUPPORTED: asan, tsan

// The unpatched runtime has not all of the modes.
// XFAIL: without_async-deinit

// The first, the second, … allocation fails while objects are released. Either the process
// ends with a message, or every deinit runs once.

import Dispatch
import Glibc
import Synchronization

let keys = (0..<200).map { _ in TaskLocal<Int>(wrappedValue: 0) }
let ran = Atomic(0)

@globalActor actor Target { static let shared = Target() }

final class OnTarget: Sendable {
  @Target deinit { ran.add(1, ordering: .releasing) }
}

/// Binds the keys from `key` on, and some of them twice, with no task.
func bind(_ count: Int, from key: Int = 0, _ body: () -> Void) {
  if key == count { return body() }
  keys[key].withValue(1) {
    if key % 3 == 0 {
      keys[key / 2].withValue(2) { bind(count, from: key + 1, body) }
    } else {
      bind(count, from: key + 1, body)
    }
  }
}

/// Keeps the actor busy, so that what is enqueued waits, until `signal()`.
func block() -> DispatchSemaphore {
  let begun = DispatchSemaphore(value: 0)
  let end = DispatchSemaphore(value: 0)
  Task.detached { @Target in
    begun.signal()
    end.wait()
  }
  begun.wait()
  return end
}

/// Releases `count` objects while the `number`-th allocation fails; returns whether it did.
func release(_ count: Int, _ number: Int) -> Bool {
  var objects = (0..<count).map { _ in OnTarget() }
  failMalloc(number)
  objects.removeAll(keepingCapacity: true)
  return stopFailingMalloc() == 1
}

struct Site {
  let name: String
  var mode = DeinitMode.reset
  var count = 1
  var bindings = 0
  /// Isolated deinits have jobs in mapped memory, or where there is none from malloc.
  var canMap = true

  /// Waits until `count` deinits have run; false if they do not.
  func wait(for count: Int) -> Bool {
    for _ in 0..<30_000 where ran.load(ordering: .acquiring) < count { usleep(1000) }
    return ran.exchange(0, ordering: .acquiringAndReleasing) == count
  }

  /// In a child: exit status 0 if all deinits ran once, 1 if not, 2 if no allocation failed.
  func run(_ number: Int) -> Int32 {
    guard mode.isSupported else { return 3 }
    mode.use()
    // What is set up once is set up by the first.
    _ = release(1, 0)
    guard wait(for: 1) else { return 1 }
    let blocked = block()
    // A thread that has nothing kept from earlier deinits.
    nonisolated(unsafe) var hasFailed = false
    onThread {
      if !canMap { failMapping() }
      bind(bindings) { hasFailed = release(count, number) }
    }
    blocked.signal()
    guard wait(for: count) else { return 1 }
    return hasFailed ? 0 : 2
  }

  /// Lets every allocation fail in turn.
  func test() {
    var survived = 0
    var crashed = 0
    while true {
      var argument = (site: self, number: survived + crashed + 1)
      let result = runChild({ argument in
        let (site, number) = argument!.load(as: (site: Site, number: Int).self)
        return site.run(number)
      }, &argument)
      switch (result.status, result.signal) {
      case (2, 0):
        let total = survived + crashed
        print("\(name): \(total > 0 ? "ok" : "nothing was allocated")")
        return
      case (0, 0):
        survived += 1
      case (0, SIGABRT), (0, SIGTRAP), (0, SIGILL):
        if result.errorCount == 0 { return print("\(name): died without a message") }
        crashed += 1
      default:
        return print("\(name): allocation \(argument.number): \(result)")
      }
    }
  }
}

@main struct Main {
  static func main() {
    // Without once-after-fork, what a child sets up on two threads at once can wait for ever.
    ran.store(0, ordering: .relaxed)
    _ = (keys, Target.shared)
    let sites = [
      Site(name: "one deinit"),
      Site(name: "many deinits", count: 400),
      Site(name: "many deinits, unmapped", count: 400, canMap: false),
      Site(name: "copying deinit", mode: .copy, bindings: 200),
      Site(name: "copying deinits", mode: .copy, count: 400, bindings: 20),
      Site(
        name: "copying deinits, unmapped", mode: .copy, count: 400, bindings: 20,
        canMap: false),
      Site(name: "async deinit", mode: .async),
      Site(name: "copying async deinit", mode: .asyncCopy, bindings: 200),
    ]
    for site in sites { site.test() }
  }
}

// CHECK: one deinit: ok
// CHECK: many deinits: ok
// CHECK: many deinits, unmapped: ok
// CHECK: copying deinit: ok
// CHECK: copying deinits: ok
// CHECK: copying deinits, unmapped: ok
// CHECK: async deinit: ok
// CHECK: copying async deinit: ok
