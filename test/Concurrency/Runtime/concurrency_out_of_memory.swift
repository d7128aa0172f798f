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

// The unpatched runtime has not all of the modes, and before isolated-deinit-fast-path a deinit
// in place takes its marker from malloc and does not look at what it got.
// XFAIL: without_async-deinit

// The first, the second, … allocation fails while objects are released, or while tables of
// caches grow. Either the process ends with a message, or all is done, once.
//
// What the series allocates, and the sites below that let it fail:
//   jobs of isolated deinits and room for more of them               deinit(s)
//   bindings without a task, maps of task-locals                     binding, copying …
//   tasks of asynchronous deinits                                    … async deinit
//   tables of the conformance and metadata caches                    growing caches
//   sleeping tasks, their heaps and queues                           sleeping
//   lists of tasks that are cancelled                                cancelling
//   nothing, as their answers have a table of a fixed size          casts of values
// An isolated deinit in place has its marker on the stack and allocates nothing. Not here: the
// liveness monitor has fewer records, or no names of functions, when it gets no memory.

import Dispatch
import Glibc
import Synchronization

let keys = (0..<200).map { _ in TaskLocal<Int>(wrappedValue: 0) }
let ran = Atomic(0)

@globalActor actor Target { static let shared = Target() }

final class OnTarget: Sendable {
  @Target deinit { ran.add(1, ordering: .releasing) }
}

final class OnMain: Sendable {
  @MainActor deinit { ran.add(1, ordering: .releasing) }
}

protocol Boxed { init() }
struct Box<T>: Boxed {}

func box<T>(_: T.Type) -> any Any.Type { Box<T>.self }

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

/// Something that allocates.
protocol Site {
  var name: String { get }
  /// swift::crash() leaves its message to the crash reporter, and prints nothing.
  var printsMessage: Bool { get }
  /// In a child: exit status 0 if all is well although the `number`-th allocation failed, 1 if
  /// it is not, 2 if no allocation failed.
  func run(_ number: Int) -> Int32
}

extension Site {
  var printsMessage: Bool { true }

  /// Lets none fail, and then every allocation in turn.
  func test() {
    var number = 0
    while true {
      var argument = (site: self as any Site, number: number)
      let result = runChild({ argument in
        let (site, number) = argument!.load(as: (site: any Site, number: Int).self)
        return site.run(number)
      }, &argument)
      switch (result.status, result.signal) {
      case (2, 0) where number > 0:
        return print("\(name): \(number > 1 ? "ok" : "nothing was allocated")")
      case (2, 0), (0, 0) where number > 0:
        break
      case (0, SIGABRT) where number > 0, (0, SIGTRAP) where number > 0,
        (0, SIGILL) where number > 0:
        if printsMessage && result.errorCount == 0 {
          return print("\(name): died without a message")
        }
      default:
        return print("\(name): allocation \(number): \(result)")
      }
      number += 1
    }
  }
}

/// Objects are released that wait for the actor of their deinits.
struct Deinits: Site {
  let name: String
  var mode = DeinitMode.reset
  var count = 1
  var bindings = 0

  /// Waits until `count` deinits have run; false if they do not.
  func wait(for count: Int) -> Bool {
    for _ in 0..<30_000 where ran.load(ordering: .acquiring) < count { usleep(1000) }
    return ran.exchange(0, ordering: .acquiringAndReleasing) == count
  }

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
      bind(bindings) { hasFailed = release(count, number) }
    }
    blocked.signal()
    guard wait(for: count) else { return 1 }
    return hasFailed ? 0 : 2
  }
}

/// A key is bound without a task, as the first one of the thread.
struct Binding: Site {
  let name = "binding"

  func run(_ number: Int) -> Int32 {
    nonisolated(unsafe) var hasFailed = false
    nonisolated(unsafe) var found = 0
    onThread {
      failMalloc(number)
      keys[0].withValue(3) { found = keys[0].get() }
      hasFailed = stopFailingMalloc() == 1
    }
    guard found == 3 else { return 1 }
    return hasFailed ? 0 : 2
  }
}

/// An object is released on the executor of its deinit, under task-locals of no task.
struct DeinitInPlace: Site {
  let name = "deinit in place"

  func run(_ number: Int) -> Int32 {
    var hasFailed = false
    bind(1) {
      // What is set up once is set up by the first.
      var object: OnMain? = OnMain()
      object = nil
      object = OnMain()
      failMalloc(number)
      object = nil
      hasFailed = stopFailingMalloc() == 1
    }
    guard ran.load(ordering: .acquiring) == 2 else { return 1 }
    return hasFailed ? 0 : 2
  }
}

/// Types are made that no one has asked for, and cast.
struct GrowingCaches: Site {
  let name = "growing caches"
  let printsMessage = false

  func run(_ number: Int) -> Int32 {
    var type: any Any.Type = Int.self
    var conforming = 0
    failAlignedMalloc(number)
    for _ in 0..<200 {
      type = _openExistential(type, do: box)
      if type is any Boxed.Type { conforming += 1 }
    }
    let hasFailed = stopFailingMalloc() == 1
    guard conforming == 200 else { return 1 }
    return hasFailed ? 0 : 2
  }
}

/// More tasks sleep than the first heap of a queue has room for, all on the main thread.
struct Sleeping: Site {
  let name = "sleeping"

  func run(_ number: Int) -> Int32 {
    Task { @MainActor in
      let count = 40
      var ended = 0
      for _ in 0..<count {
        Task { @MainActor in
          try? await Task.sleep(for: .milliseconds(5))
          ended += 1
        }
      }
      let limit = ContinuousClock.now + .seconds(30)
      failMalloc(number)
      while ended < count, ContinuousClock.now < limit { await Task.yield(); usleep(100) }
      let hasFailed = stopFailingMalloc() == 1
      exit(ended != count ? 1 : hasFailed ? 0 : 2)
    }
    dispatchMain()
  }
}

/// A group is cancelled that has more children with handlers than the list has room for at first.
struct Cancelling: Site {
  let name = "cancelling"

  func run(_ number: Int) -> Int32 {
    let count = 100
    let begun = Atomic(0), handlers = Atomic(0), ended = DispatchSemaphore(value: 0)
    let task = Task.detached {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<count {
          group.addTask {
            await withTaskCancellationHandler {
              begun.add(1, ordering: .releasing)
              while !Task.isCancelled { await Task.yield() }
            } onCancel: {
              handlers.add(1, ordering: .releasing)
            }
          }
        }
      }
      ended.signal()
    }
    while begun.load(ordering: .acquiring) < count { usleep(1000) }
    nonisolated(unsafe) var hasFailed = false
    onThread {
      failMalloc(number)
      task.cancel()
      hasFailed = stopFailingMalloc() == 1
    }
    ended.wait()
    guard handlers.load(ordering: .acquiring) == count else { return 1 }
    return hasFailed ? 0 : 2
  }
}

/// Values are cast whose types have conformed before, so that only the answers are new.
struct Casts: Site {
  let name = "casts of values"
  let printsMessage = false

  func run(_ number: Int) -> Int32 {
    // Code that is not optimized has coroutines for arrays, whose frames it takes from malloc.
    let count = 100
    let values = UnsafeMutablePointer<Any>.allocate(capacity: count + 1)
    values.initialize(repeating: Box<Bool>(), count: count + 1)
    var type: any Any.Type = Int.self
    func conforms<T>(_ value: T) -> Bool { value is any Boxed }
    for i in 0..<count {
      type = _openExistential(type, do: box)
      guard let type = type as? any Boxed.Type else { return 1 }
      values[i] = type.init()
      guard _openExistential(values[i], do: conforms) else { return 1 }
    }
    guard values[count] is any Boxed else { return 1 }
    var conforming = 0, i = 0
    failMalloc(number)
    while i < count {
      if values[i] is any Boxed { conforming += 1 }
      i += 1
    }
    let hasFailed = stopFailingMalloc() == 1
    guard conforming == count else { return 1 }
    return hasFailed ? 0 : 2
  }
}

@main struct Main {
  static func main() {
    // Without once-after-fork, what a child sets up on two threads at once can wait for ever.
    ran.store(0, ordering: .relaxed)
    _ = (keys, Target.shared)
    let sites: [any Site] = [
      Deinits(name: "one deinit"),
      Deinits(name: "many deinits", count: 400),
      Deinits(name: "copying deinit", mode: .copy, bindings: 200),
      Deinits(name: "copying deinits", mode: .copy, count: 400, bindings: 20),
      Deinits(name: "async deinit", mode: .async),
      Deinits(name: "copying async deinit", mode: .asyncCopy, bindings: 200),
      Binding(),
      DeinitInPlace(),
      GrowingCaches(),
      Sleeping(),
      Cancelling(),
      Casts(),
    ]
    for site in sites { site.test() }
  }
}

// CHECK: one deinit: ok
// CHECK: many deinits: ok
// CHECK: copying deinit: ok
// CHECK: copying deinits: ok
// CHECK: async deinit: ok
// CHECK: copying async deinit: ok
// CHECK: binding: ok
// CHECK: deinit in place: nothing was allocated
// CHECK: growing caches: ok
// CHECK: sleeping: ok
// CHECK: cancelling: ok
// The table of answers has a fixed size; before the series a cast allocates nothing either.
// CHECK: casts of values: nothing was allocated
