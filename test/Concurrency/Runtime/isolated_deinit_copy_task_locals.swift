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

// A runtime without the patch clears task-locals whatever the flags say.
// XFAIL: without_isolated-deinit-copy-task-locals

// Isolated deinits with TaskDeinitFlags::CopyTaskLocals: who sees which binding,
// where, and how long the copies live.

import Dispatch
import Glibc
import StdlibUnittest
import Synchronization

// ==== What the tests look at =================================================

extension Token {
  var references: UInt { _getRetainCount(self) }
}

var hasTask: Bool { withUnsafeCurrentTask { $0 != nil } }

/// An actor with the default executor.
@globalActor actor Other: GlobalActor {
  static let shared = Other()
}

/// A part of an object, whose deinit is not isolated: it runs where that of the
/// object runs.
final class Part: Sendable {
  deinit { events.add("part sees \(TL.number) \(TL.name)") }
}

/// Does `body` in its deinit.
final class OnManual: Sendable {
  let body: @Sendable () -> Void
  let part: Part?
  init(part: Part? = nil, _ body: @escaping @Sendable () -> Void) {
    self.body = body
    self.part = part
  }
  @Manual deinit {
    Manual.shared.assertIsolated()
    body()
  }
}

final class OnOther: Sendable {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  @Other deinit {
    Other.shared.assertIsolated()
    body()
  }
}

actor Itself {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  isolated deinit {
    self.assertIsolated()
    body()
  }
}

/// Borrows the executor of another actor, so that its deinit has to hop.
actor Proxy {
  private let owner: Itself
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) {
    self.owner = Itself {}
    self.body = body
  }
  nonisolated var unownedExecutor: UnownedSerialExecutor { owner.unownedExecutor }
  isolated deinit { body() }
}

func see() { events.add("deinit sees \(TL.number) \(TL.name)") }

/// Checks that bindings can be made here, and go away again.
func checkNestedBindings() {
  let outer = (TL.number, TL.name)
  TL.$number.withValue(-1) {
    expectEqual(-1, TL.number)
    expectEqual(outer.1, TL.name)
    TL.$name.withValue("nested") {
      expectEqual(-1, TL.number)
      expectEqual("nested", TL.name)
    }
    expectEqual(outer.1, TL.name)
  }
  expectEqual(outer.0, TL.number)
  expectEqual(outer.1, TL.name)
}

// ==== The tests ==============================================================

let suite = TestSuite("IsolatedDeinitCopyTaskLocals")

/// A test in copy mode, which must leave nothing behind.
func test(_ name: String, _ body: @escaping () -> Void) {
  suite.test(name) {
    DeinitMode.copy.use()
    body()
    expectEqual([], Manual.executor.priorities)
    expectEqual([], events.take())
    expectEqual(0, Token.alive.load(ordering: .relaxed))
    expectEqual(0, TL.number)
  }
}

@main struct Main {
  static func main() {
    // A crash is the only thing that StdlibUnittest would report later.
    precondition(DeinitMode.copy.isSupported, "the runtime does not copy")
    addTests()
    runAllTests()
  }

  static func addTests() {
    test("a hop shows the bindings of the release") {
      inTask {
        TL.$number.withValue(42) {
          TL.$name.withValue("outer") {
            _ = OnManual(part: Part()) {
              expectFalse(hasTask)
              see()
              checkNestedBindings()
            }
          }
        }
      }
      expectEqual([], events.take())
      onThread { Manual.executor.run() }
      expectEqual(
        ["deinit sees 42 outer", "part sees 42 outer"], events.take())
    }

    test("a hop through the queue of a default actor") {
      let done = DispatchSemaphore(value: 0)
      inTask {
        TL.$number.withValue(42) {
          _ = OnOther {
            see()
            checkNestedBindings()
            done.signal()
          }
        }
      }
      done.wait()
      expectEqual(["deinit sees 42 none"], events.take())
    }

    test("a hop of an actor's deinit to another actor's executor") {
      let done = DispatchSemaphore(value: 0)
      inTask {
        TL.$number.withValue(42) {
          _ = Proxy {
            see()
            checkNestedBindings()
            done.signal()
          }
        }
      }
      done.wait()
      expectEqual(["deinit sees 42 none"], events.take())
    }

    test("the fast path shows the bindings themselves") {
      inTask {
        await TL.$token.withValue(Token("t")) {
          await TL.$number.withValue(42) {
            await useOther {
              let before = TL.token!.references
              _ = OnOther {
                expectTrue(hasTask)
                expectEqual(before, TL.token!.references)
                see()
                checkNestedBindings()
              }
            }
          }
        }
      }
      expectEqual(["deinit sees 42 none", "token t sees 0"], events.take())
    }

    test("an actor's own deinit shows the bindings themselves") {
      inTask {
        TL.$token.withValue(Token("t")) {
          TL.$number.withValue(42) {
            let before = TL.token!.references
            _ = Itself {
              expectEqual(before, TL.token!.references)
              see()
              checkNestedBindings()
            }
            expectEqual(["deinit sees 42 none"], events.take())
          }
        }
      }
      expectEqual(["token t sees 0"], events.take())
    }

    test("bindings made without a task are copied") {
      onThread {
        TL.$number.withValue(42) {
          TL.$name.withValue("thread") {
            expectFalse(hasTask)
            _ = OnManual {
              see()
              checkNestedBindings()
            }
          }
        }
      }
      onThread { Manual.executor.run() }
      expectEqual(["deinit sees 42 thread"], events.take())
    }

    test("the main thread without a task: the main actor's fast path, a hop") {
      // No task, and no executor but the one that the main thread stands for.
      TL.$number.withValue(42) {
        _ = OnMain { see() }
        expectEqual(["deinit sees 42 none"], events.take())
        _ = OnManual { see() }
      }
      Manual.executor.run()
      expectEqual(["deinit sees 42 none"], events.take())
      TL.$number.withValue(43) {
        _ = Itself { see() }
        expectEqual(["deinit sees 43 none"], events.take())
      }
    }

    test("without bindings nothing is visible") {
      inTask { _ = OnManual(part: Part()) {
        see()
        checkNestedBindings()
      } }
      onThread { Manual.executor.run() }
      expectEqual(["deinit sees 0 none", "part sees 0 none"], events.take())
      onThread { _ = OnManual { see() } }
      onThread { Manual.executor.run() }
      expectEqual(["deinit sees 0 none"], events.take())
    }

    test("the innermost binding of a key is copied, and no other") {
      inTask {
        TL.$token.withValue(Token("shadowed")) {
          TL.$number.withValue(1) {
            TL.$token.withValue(Token("visible")) {
              TL.$name.withValue("x") {
                TL.$number.withValue(2) {
                  _ = OnManual {
                    see()
                    events.add("token is \(TL.token!.name)")
                  }
                }
              }
            }
          }
        }
      }
      // The job keeps what it shows, not what is shadowed.
      expectEqual(["token shadowed sees 0"], events.take())
      onThread { Manual.executor.run() }
      expectEqual(
        ["deinit sees 2 x", "token is visible", "token visible sees 0"],
        events.take())
    }

    test("copies are destroyed once, after the deinit, on its thread") {
      final class Where: Sendable {
        static let thread = Mutex<pthread_t?>(nil)
        deinit {
          Where.thread.withLock { $0 = pthread_self() }
          events.add("value sees \(TL.number), task: \(hasTask)")
        }
      }
      enum Local { @TaskLocal static var value: Where? = nil }
      inTask {
        Local.$value.withValue(Where()) {
          TL.$number.withValue(42) {
            _ = OnManual(part: Part()) { expectNotNil(Local.value) }
          }
        }
      }
      expectEqual([], events.take())
      onThread {
        Manual.executor.run()
        expectTrue(Where.thread.withLock { $0 } == pthread_self())
      }
      expectEqual(["part sees 42 none", "value sees 0, task: false"], events.take())
    }

    test("each job has the bindings of its own release") {
      inTask {
        TL.$token.withValue(Token("t")) {
          for number in 0..<3 {
            TL.$number.withValue(number) {
              _ = OnManual { events.add("\(TL.token!.name)\(TL.number)") }
            }
          }
          Manual.executor.run()
        }
      }
      expectEqual(["t0", "t1", "t2", "token t sees 0"], events.take())
    }

    test("a stop-lookup marker ends the copy") {
      inTask {
        await TL.$number.withValue(1) {
          await useOther {
            // This deinit is on its executor, and sees nothing, because of a
            // marker. It drops an object which copies.
            DeinitMode.reset.use()
            _ = OnOther {
              expectEqual(0, TL.number)
              DeinitMode.copy.use()
              TL.$name.withValue("after") { _ = OnManual { see() } }
            }
          }
        }
      }
      Manual.executor.run()
      expectEqual(["deinit sees 0 after"], events.take())
    }

    test("bindings of parent tasks are copied") {
      inTask {
        await TL.$token.withValue(Token("t")) {
          await TL.$number.withValue(1) {
            async let child: Void = TL.$name.withValue("child") {
              _ = OnManual {
                see()
                events.add("token is \(TL.token!.name)")
              }
            }
            await child
            await withTaskGroup(of: Void.self) { group in
              TL.$number.withValue(2) {
                group.addTask {
                  async let grandchild: Void = { _ = OnManual { see() } }()
                  await grandchild
                }
              }
              await group.waitForAll()
            }
          }
        }
      }
      Manual.executor.run()
      expectEqual(
        ["deinit sees 1 child", "token is t", "deinit sees 2 none",
         "token t sees 0"], events.take())
    }

    test("values of any layout") {
      struct Small: Sendable { var byte: UInt8 }
      struct Empty: Sendable {}
      struct Wide: Sendable { var vector: SIMD16<Double>; var tail: UInt8 }
      enum Local {
        @TaskLocal static var small = Small(byte: 0)
        @TaskLocal static var empty = Empty()
        @TaskLocal static var flag = false
        @TaskLocal static var wide = Wide(vector: .zero, tail: 0)
        @TaskLocal static var text = ""
        @TaskLocal static var optional: (UInt8, Double)? = nil
        @TaskLocal static var any: any Sendable = 0
        @TaskLocal static var large = (0..<1000).map { $0 }
      }
      let wide = Wide(vector: SIMD16((0..<16).map(Double.init)), tail: 7)
      inTask {
        Local.$small.withValue(Small(byte: 1)) {
        Local.$wide.withValue(wide) {
        Local.$flag.withValue(true) {
        Local.$empty.withValue(Empty()) {
        Local.$optional.withValue((3, 4)) {
        Local.$text.withValue(String(repeating: "ab", count: 100)) {
        Local.$any.withValue("boxed " + String(repeating: "x", count: 50)) {
        Local.$large.withValue([1, 2, 3]) {
          _ = OnManual {
            expectEqual(1, Local.small.byte)
            expectEqual(wide.vector, Local.wide.vector)
            expectEqual(7, Local.wide.tail)
            expectTrue(Local.flag)
            expectTrue(Local.optional! == (3, 4))
            expectEqual(200, Local.text.utf8.count)
            expectEqual("boxed " + String(repeating: "x", count: 50),
                        Local.any as? String)
            expectEqual([1, 2, 3], Local.large)
            events.add("checked")
          }
        }}}}}}}}
      }
      onThread { Manual.executor.run() }
      expectEqual(["checked"], events.take())
    }

    test("many values") {
      let keys = (0..<1000).map { _ in TaskLocal<Token?>(wrappedValue: nil) }
      @Sendable func bind(_ n: Int, _ body: @Sendable () -> Void) {
        if n == 0 { return body() }
        keys[n - 1].withValue(Token("\(n)")) { bind(n - 1, body) }
      }
      onThread {
        bind(1000) {
          _ = OnManual {
            for (n, key) in keys.enumerated() {
              expectEqual("\(n + 1)", key.get()?.name)
            }
          }
        }
        expectEqual(1000, Token.alive.load(ordering: .relaxed))
        Manual.executor.run()
      }
      expectEqual(1000, events.take().count)
    }

    test("deinits inside of a deinit: a hop, the fast path") {
      inTask {
        TL.$number.withValue(1) {
          _ = OnManual {
            see()
            TL.$name.withValue("inner") {
              // Runs at once, on the executor that is current here.
              _ = OnManual {
                see()
                checkNestedBindings()
              }
              events.add("after the fast path")
              // Runs later, with copies of the copies.
              let number = 2
              TL.$number.withValue(number) {
                Task { @Other in _ = OnManual { see() } }
              }
            }
            checkNestedBindings()
          }
        }
      }
      onThread { Manual.executor.run() }
      inTask { while Manual.executor.priorities.isEmpty { await Task.yield() } }
      onThread { Manual.executor.run() }
      expectEqual(
        ["deinit sees 1 none", "deinit sees 1 inner", "after the fast path",
         "deinit sees 2 inner"], events.take())
    }

    test("a chain of hops between two executors") {
      let done = DispatchSemaphore(value: 0)
      inTask {
        TL.$token.withValue(Token("t")) {
          _ = OnManual {
            TL.$number.withValue(TL.number + 1) {
              _ = OnOther {
                TL.$number.withValue(TL.number + 1) {
                  _ = OnManual {
                    see()
                    events.add("token is \(TL.token!.name)")
                  }
                }
                done.signal()
              }
            }
          }
        }
      }
      onThread { Manual.executor.run() }
      done.wait()
      // The job of the other executor may still hold its copies.
      inTask { await useOther {} }
      onThread { Manual.executor.run() }
      expectEqual(
        ["deinit sees 2 none", "token is t", "token t sees 0"], events.take())
    }

    test("a reset deinit inside of a copying one sees nothing") {
      inTask {
        TL.$number.withValue(1) {
          _ = OnManual {
            DeinitMode.reset.use()
            _ = OnManual(part: Part()) {
              see()
              checkNestedBindings()
            }
            DeinitMode.copy.use()
            see()
          }
        }
      }
      onThread { Manual.executor.run() }
      expectEqual(
        ["deinit sees 0 none", "part sees 0 none", "deinit sees 1 none"],
        events.take())
    }

    test("tasks started in the deinit inherit what it sees") {
      let done = DispatchSemaphore(value: 0)
      inTask {
        TL.$number.withValue(42) {
          _ = OnManual {
            TL.$name.withValue("task") {
              _ = Task {
                see()
                done.signal()
              }
            }
          }
        }
      }
      onThread { Manual.executor.run() }
      done.wait()
      expectEqual(["deinit sees 42 task"], events.take())
    }

    test("an executor that runs its jobs inside of a task hides its bindings") {
      // The current task is that of the executor, whatever the mode.
      for mode in [DeinitMode.reset, .copy] {
        mode.use()
        inTask { TL.$number.withValue(1) { _ = OnManual {
          expectTrue(hasTask)
          see()
          checkNestedBindings()
        } } }
      }
      inTask { _ = OnManual {
        see()
        checkNestedBindings()
      } }
      inTask {
        TL.$number.withValue(10) {
          TL.$name.withValue("executor") {
            Manual.executor.run()
            expectTrue(hasTask)
            expectEqual(10, TL.number)
            expectEqual("executor", TL.name)
            checkNestedBindings()
          }
        }
      }
      expectEqual(
        ["deinit sees 0 none", "deinit sees 1 none", "deinit sees 0 none"],
        events.take())
    }

    test("an executor that runs its jobs inside of a binding without a task") {
      inTask { TL.$number.withValue(1) { _ = OnManual {
        see()
        checkNestedBindings()
      } } }
      inTask { _ = OnManual {
        see()
        checkNestedBindings()
      } }
      onThread {
        TL.$number.withValue(10) {
          TL.$name.withValue("executor") {
            Manual.executor.run()
            expectEqual(10, TL.number)
            expectEqual("executor", TL.name)
            checkNestedBindings()
          }
        }
        expectEqual(0, TL.number)
      }
      expectEqual(["deinit sees 1 none", "deinit sees 0 none"], events.take())
    }

    test("the job has the priority of the release, in both modes") {
      for mode in [DeinitMode.reset, .copy] {
        mode.use()
        for priority in [TaskPriority.background, .utility, .medium, .high] {
          inTask(priority: priority) {
            TL.$number.withValue(1) { _ = OnManual {} }
          }
          expectEqual([priority], Manual.executor.priorities)
          onThread { Manual.executor.run() }
        }
      }
      DeinitMode.copy.use()
    }

    test("jobs of one executor keep their order, whatever they carry") {
      inTask {
        for n in 0..<5 {
          _ = OnManual { events.add("\(n) sees \(TL.number)") }
          TL.$number.withValue(n) {
            _ = OnManual { events.add("\(n) sees \(TL.number)") }
          }
        }
      }
      onThread { Manual.executor.run() }
      expectEqual((0..<5).flatMap { ["\($0) sees 0", "\($0) sees \($0)"] },
                  events.take())
    }

    test("reset mode shows nothing, on every path") {
      DeinitMode.reset.use()
      inTask {
        await TL.$number.withValue(42) {
          _ = OnManual(part: Part()) { see() }
          _ = Itself { see() }
          await useOther { _ = OnOther { see() } }
        }
      }
      onThread { Manual.executor.run() }
      expectEqual(
        ["deinit sees 0 none", "deinit sees 0 none", "deinit sees 0 none",
         "part sees 0 none"], events.take())
      DeinitMode.copy.use()
    }
  }
}

final class OnMain: Sendable {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  @MainActor deinit { body() }
}

@Other func useOther(_ body: @Sendable () -> Void) { body() }
