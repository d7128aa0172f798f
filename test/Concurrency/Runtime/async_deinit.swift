// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/deinit-modes.c -o %t/deinit-modes.o
// RUN: %target-build-swift -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/deinit-modes.h %s %S/Inputs/DeinitModes.swift %S/Inputs/DeinitTestSupport.swift %t/deinit-modes.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %env-SWIFT_IS_CURRENT_EXECUTOR_LEGACY_MODE_OVERRIDE=swift6 %target-run %t/a.out

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// The executable preempts a symbol of the runtime library.
// REQUIRES: OS=linux-gnu

// The unpatched runtime has no swift_task_deinitAsync.
// XFAIL: without_async-deinit

// Asynchronous deinits: where they run, what they see, how often they end.

import Dispatch
import Glibc
import StdlibUnittest
import Synchronization

// ==== What the tests look at =================================================

/// A part of every object that is tested: it goes away when the object does.
final class Part: Sendable {
  static let made = Atomic<Int>(0)
  static let destroyed = Atomic<Int>(0)
  init() { Part.made.add(1, ordering: .relaxed) }
  deinit { Part.destroyed.add(1, ordering: .releasing) }
}

/// Waits until every object that was made has gone.
func allGone() {
  while Part.destroyed.load(ordering: .acquiring)
    != Part.made.load(ordering: .relaxed) { usleep(100) }
}

/// Waits until every task-local value has gone, too: they outlive the object.
func allTokensGone() {
  while Token.alive.load(ordering: .acquiring) != 0 { usleep(100) }
}

func currentTask() -> Int? { withUnsafeCurrentTask { $0?.hashValue } }

/// A door that a task can wait at.
actor Door {
  private var isOpen = false
  private var waiting: [CheckedContinuation<Void, Never>] = []
  func open() {
    isOpen = true
    for continuation in waiting { continuation.resume() }
    waiting = []
  }
  func pass() async {
    if isOpen { return }
    await withCheckedContinuation { waiting.append($0) }
  }
}

@globalActor actor Home: GlobalActor { static let shared = Home() }
@globalActor actor Away: GlobalActor { static let shared = Away() }

@Home func atHome() { Home.shared.assertIsolated() }
@Away func away() async { Away.shared.assertIsolated() }

// ==== The objects ============================================================

// Each has an async deinit in two halves: `setAsyncBody` gives the half that may
// suspend, and its isolated deinit is the end of it.

class Object {
  let part = Part()
  var log: [String] = []
}

/// No half that may suspend.
final class Simple: Object {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  @Home deinit {
    atHome()
    body()
  }
}

/// Runs any async function.
final class Closer: Object {
  let close: @Sendable (Closer) async -> Void
  init(_ close: @escaping @Sendable (Closer) async -> Void) { self.close = close }
  @Home deinit { atHome() }
}

final class OnMain: Object {
  let close: @Sendable () async -> Void
  init(_ close: @escaping @Sendable () async -> Void) { self.close = close }
  @MainActor deinit {
    MainActor.shared.assertIsolated()
    events.add("on main")
  }
}

final class OnManual: Object {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  @Manual deinit { body() }
}

actor Itself {
  let part = Part()
  var state = 0
  let awaits: Bool
  init(awaits: Bool) { self.awaits = awaits }
  func step() {
    self.assertIsolated()
    state += 1
  }
  isolated deinit {
    self.assertIsolated()
    events.add("state \(state)")
  }
}

final class Tree {
  static let order = Mutex<[Int]>([])
  let part = Part()
  let index: Int
  nonisolated(unsafe) var children: [Tree]
  init(_ index: Int, depth: Int) {
    self.index = index
    children = depth == 0 ? [] : (1...2).map {
      Tree(2 * index + $0, depth: depth - 1)
    }
  }
  @Home deinit { Tree.order.withLock { $0.append(index) } }
}

final class Link {
  let part = Part()
  nonisolated(unsafe) var next: Link?
  init(_ next: Link?) { self.next = next }
  @Home deinit {}
}

/// The runtime gets its method as the body of a deinit.
protocol AsyncMethod: AnyObject { func end() async }

final class NotIsolated: AsyncMethod {
  let part = Part()
  func end() async {
    expectTrue(isCurrentExecutor(nil, 0))
    expectNotNil(currentTask())
    await Task.yield()
    await away()
    let gone = Part.destroyed.load(ordering: .acquiring)
    expectEqual(Part.made.load(ordering: .relaxed), gone + 1)
    events.add("done")
    Unmanaged.passUnretained(self).release()
  }
}

class Base {
  let part = Part()
  @Home deinit { events.add("base") }
}
final class Derived: Base {
  let more = Part()
  @Home deinit { events.add("derived") }
}

func setBodies() {
  setAsyncBody(of: Closer.self) { await $0.close($0) }
  setAsyncBody(of: OnMain.self) { await $0.close() }
  setAsyncBody(of: Itself.self) {
    guard $0.awaits else { return }
    await $0.step()
    try? await Task.sleep(nanoseconds: 1000)
    await $0.step()
  }
  setAsyncBody(of: Tree.self) { tree in
    await Task.yield()
    tree.children = []
  }
  setAsyncBody(of: Link.self) { link in
    link.next = nil
    await Task.yield()
  }
  setAsyncBody(of: Derived.self) { _ in
    await away()
    events.add("body")
  }
}

typealias IsCurrentExecutor = @convention(c) (UnsafeRawPointer?, UInt) -> Bool
let isCurrentExecutor = unsafeBitCast(
  dlsym(nil, "swift_task_isCurrentExecutor"), to: IsCurrentExecutor.self)

// ==== The tests ==============================================================

let suite = TestSuite("AsyncDeinit")

/// A test in async mode, which must leave nothing behind.
func test(_ name: String, _ body: @escaping () -> Void) {
  suite.test(name) {
    DeinitMode.async.use()
    setBodies()
    body()
    allGone()
    allTokensGone()
    _ = events.take()
    let (made, gone) = (Part.made.load(ordering: .relaxed),
                        Part.destroyed.load(ordering: .acquiring))
    expectEqual(made, gone)
  }
}

@main struct Main {
  static func main() {
    precondition(DeinitMode.async.isSupported && DeinitMode.asyncCopy.isSupported,
                 "the runtime has no async deinit")
    addTests()
    // The tests block their thread, and the main actor needs the main thread.
    startThread {
      runAllTests()
      exit(0)
    }
    dispatchMain()
  }

  static func addTests() {
    test("on the main actor, from elsewhere") {
      inTask {
        _ = OnMain {
          await away()
          events.add("body")
        }
      }
      allGone()
      expectEqual(["body", "on main"], events.take())
    }

    test("runs in a task of its own, on the executor of the deinit") {
      inTask {
        let releasing = currentTask()
        _ = Simple {
          Home.shared.assertIsolated()
          expectNotNil(currentTask())
          expectNotEqual(releasing, currentTask())
        }
      }
      allGone()
    }

    test("is never run by the code that releases") {
      inTask {
        await onHome {
          // On the executor, and yet not at once.
          _ = Simple { events.add("deinit") }
          events.add("released")
        }
      }
      allGone()
      expectEqual(["released", "deinit"], events.take())
    }

    test("does not block the releasing thread") {
      inTask { _ = OnManual { events.add("deinit") } }
      onThread { _ = OnManual { events.add("deinit") } }
      expectEqual([], events.take())
      expectEqual(2, Manual.executor.priorities.count)
      onThread { Manual.executor.run() }
      expectEqual(["deinit", "deinit"], events.take())
    }

    test("suspends, with the object alive, and comes back to its executor") {
      inTask {
        _ = Closer { object in
          object.log.append("begin")
          await away()
          object.log.append("away")
          try? await Task.sleep(nanoseconds: 1000)
          object.log.append("slept")
          let gone = Part.destroyed.load(ordering: .acquiring)
          expectEqual(Part.made.load(ordering: .relaxed), gone + 1)
          await atHome()
          expectEqual(["begin", "away", "slept"], object.log)
          events.add("closed")
        }
      }
      allGone()
      expectEqual(["closed"], events.take())
    }

    test("weak references see nothing while it runs") {
      inTask {
        let door = Door()
        let closed = Door()
        weak var reference: Closer?
        do {
          let object = Closer { _ in
            await door.pass()
            await closed.open()
          }
          reference = object
        }
        expectNil(reference)
        await door.open()
        await closed.pass()
        expectNil(reference)
      }
    }

    test("the generic executor") {
      // Called directly, because an isolated deinit always has an actor.
      typealias DeinitAsync = @convention(c) (
        UnsafeMutableRawPointer, UnsafeRawPointer, UnsafeRawPointer?, UInt, UInt
      ) -> Void
      let deinitAsync = unsafeBitCast(
        dlsym(nil, "swift_task_deinitAsync"), to: DeinitAsync.self)
      onThread {
        let object = NotIsolated()
        // An object of a protocol is a reference and a table of its methods.
        let methods = unsafeBitCast(
          object as any AsyncMethod, to: (Int, UnsafePointer<UnsafeRawPointer>).self).1
        deinitAsync(Unmanaged.passRetained(object).toOpaque(), methods[1], nil, 0, 0)
      }
      var seen: [String] = []
      while seen.isEmpty { seen = events.take() }
      expectEqual(["done"], seen)
    }

    test("is not cancelled with the task that releases") {
      inTask {
        let task = Task {
          withUnsafeCurrentTask { $0!.cancel() }
          expectTrue(Task.isCancelled)
          _ = Closer { _ in
            expectFalse(Task.isCancelled)
            await away()
            expectFalse(Task.isCancelled)
          }
        }
        await task.value
      }
    }

    test("can be cancelled from within") {
      inTask {
        _ = Closer { _ in
          await withTaskCancellationHandler {
            withUnsafeCurrentTask { $0!.cancel() }
            expectTrue(Task.isCancelled)
            do {
              try await Task.sleep(nanoseconds: 1_000_000_000_000)
              expectUnreachable()
            } catch {
              events.add("woken")
            }
          } onCancel: {
            events.add("cancelled")
          }
          async let child = Task.isCancelled
          let isCancelled = await child
          expectTrue(isCancelled)
        }
      }
      allGone()
      expectEqual(["cancelled", "woken"], events.take())
    }

    test("child tasks: async let, a group") {
      inTask(priority: .utility) {
        _ = Closer { object in
          async let one = object.log.count + 1
          async let two: Int = {
            await away()
            return 2
          }()
          let sum = await one + two
          expectEqual(3, sum)
          let total = await withTaskGroup(of: Int.self) { group in
            for n in 1...10 {
              group.addTask {
                expectEqual(.utility, Task.currentPriority)
                await Task.yield()
                return n
              }
            }
            return await group.reduce(0, +)
          }
          expectEqual(55, total)
          events.add("done")
        }
      }
      allGone()
      expectEqual(["done"], events.take())
    }

    test("an actor is destroyed by its own async deinit") {
      for awaits in [false, true] {
        inTask {
          let actor = Itself(awaits: awaits)
          await actor.step()
        }
        allGone()
        expectEqual(["state \(awaits ? 3 : 1)"], events.take())
      }
      for n in 0..<500 { inTask { _ = Itself(awaits: n % 2 == 0) } }
    }

    test("a tree, whose children are released in the body") {
      inTask { _ = Tree(0, depth: 9) }
      allGone()
      let order = Tree.order.withLock { $0 }
      expectEqual(1023, order.count)
      expectEqual(Array(0..<1023), order.sorted())
    }

    test("the last reference goes away in another async deinit") {
      inTask {
        var chain: Link? = nil
        for _ in 0..<1000 { chain = Link(chain) }
        chain = nil
      }
    }

    test("a class hierarchy: one task, from the most derived class on") {
      inTask { _ = Derived() }
      allGone()
      expectEqual(["body", "derived", "base"], events.take())
    }

    test("inherits the priority of the release") {
      for priority in [TaskPriority.background, .utility, .medium, .high] {
        inTask(priority: priority) {
          _ = Closer { _ in
            expectEqual(priority, Task.currentPriority)
            expectEqual(priority, Task.basePriority)
            await away()
            expectEqual(priority, Task.currentPriority)
          }
        }
        allGone()
      }
      // As a task does: what the user waits for is the affair of the task alone.
      inTask(priority: TaskPriority(rawValue: 0x21)) {
        let inherited = Task { Task.basePriority }
        let expected = await inherited.value
        expectNotEqual(TaskPriority(rawValue: 0x21), expected)
        _ = Closer { _ in expectEqual(expected, Task.basePriority) }
      }
      allGone()
      // A thread without a task has none, and a task has to have one.
      onThread { _ = Closer { _ in expectEqual(.medium, Task.currentPriority) } }
      allGone()
    }

    test("keeps the order of releases on one executor") {
      inTask {
        for n in 0..<100 { _ = OnManual { events.add("\(n)") } }
      }
      onThread { Manual.executor.run() }
      expectEqual((0..<100).map { "\($0)" }, events.take())
    }

    test("plain: no task-locals, and none are kept") {
      inTask {
        TL.$token.withValue(Token("t")) {
          TL.$number.withValue(1) {
            _ = OnManual {
              expectEqual(0, TL.number)
              expectNil(TL.token)
              TL.$number.withValue(2) { expectEqual(2, TL.number) }
              expectEqual(0, TL.number)
            }
          }
        }
      }
      expectEqual(["token t sees 0"], events.take())
      onThread { Manual.executor.run() }
    }

    test("copy: the task-locals of the release, until the end") {
      DeinitMode.asyncCopy.use()
      inTask {
        TL.$token.withValue(Token("hidden")) {
          TL.$number.withValue(1) {
            TL.$token.withValue(Token("seen")) {
              _ = Closer { _ in
                expectEqual(1, TL.number)
                expectEqual("seen", TL.token?.name)
                await TL.$number.withValue(2) {
                  await away()
                  expectEqual(2, TL.number)
                  async let child = "\(TL.number) \(TL.token!.name)"
                  let seen = await child
                  expectEqual("2 seen", seen)
                }
                await withTaskGroup(of: Int.self) { group in
                  TL.$number.withValue(3) { group.addTask { TL.number } }
                  group.addTask { TL.number }
                  let sum = await group.reduce(0, +)
                  expectEqual(4, sum)
                }
                let task = Task { "\(TL.number) \(TL.token!.name)" }
                let copied = await task.value
                expectEqual("1 seen", copied)
                expectEqual(1, TL.number)
                events.add("closed")
              }
            }
          }
        }
      }
      allGone()
      allTokensGone()
      // Either the release or the deinit is the last that has the value "seen".
      let list = events.take().map { $0.hasPrefix("token seen") ? "token seen" : $0 }
      expectEqual(["closed", "token hidden sees 0", "token seen"], list.sorted())
      expectTrue(list.firstIndex(of: "closed")! < list.firstIndex(of: "token seen")!)
    }

    test("copy: what is shadowed goes away at once") {
      DeinitMode.asyncCopy.use()
      inTask {
        TL.$token.withValue(Token("hidden")) {
          TL.$token.withValue(Token("seen")) {
            _ = OnManual { events.add("sees \(TL.token!.name)") }
          }
        }
      }
      expectEqual(["token hidden sees 0"], events.take())
      onThread { Manual.executor.run() }
      expectEqual(["sees seen", "token seen sees 0"], events.take())
    }

    test("copy: from a thread, with bindings and without") {
      DeinitMode.asyncCopy.use()
      onThread {
        TL.$number.withValue(5) {
          _ = OnManual { events.add("sees \(TL.number)") }
        }
        _ = OnManual { events.add("sees \(TL.number)") }
      }
      onThread { Manual.executor.run() }
      expectEqual(["sees 5", "sees 0"], events.take())
    }

    test("copy: many values of many sizes") {
      DeinitMode.asyncCopy.use()
      let tokens = (0..<300).map { _ in TaskLocal<Token?>(wrappedValue: nil) }
      let vectors = (0..<300).map { _ in TaskLocal<SIMD8<Double>>(wrappedValue: .zero) }
      let bytes = (0..<300).map { _ in TaskLocal<UInt8>(wrappedValue: 0) }
      @Sendable func bind(_ n: Int, _ body: @Sendable () -> Void) {
        if n == 0 { return body() }
        tokens[n - 1].withValue(Token("")) {
          bytes[n - 1].withValue(UInt8(n % 256)) {
            vectors[n - 1].withValue(SIMD8(repeating: Double(n))) { bind(n - 1, body) }
          }
        }
      }
      onThread {
        bind(300) {
          _ = Closer { _ in
            await away()
            for n in 1...300 {
              expectNotNil(tokens[n - 1].get())
              expectEqual(UInt8(n % 256), bytes[n - 1].get())
              expectEqual(SIMD8(repeating: Double(n)), vectors[n - 1].get())
            }
          }
        }
      }
      allGone()
      allTokensGone()
    }
  }
}

@Home func onHome(_ body: @Sendable () -> Void) { body() }
