// RUN: %empty-directory(%t)
// RUN: %target-build-swift -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch %s %S/Inputs/DeinitTestSupport.swift -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %env-SWIFT_IS_CURRENT_EXECUTOR_LEGACY_MODE_OVERRIDE=swift6 %target-run %t/a.out

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// A runtime without the patch shows the bindings of whatever the job runs in.
// XFAIL: without_isolated-deinit-hop-stop-lookup

// An isolated deinit that hopped sees no task-local values (SE-0371), wherever
// its executor runs the job, or drains the actor: on a bare thread, within
// bindings of that thread, or within a task that has some.

import StdlibUnittest
import Synchronization

/// What the deinits saw, in order.
let seen = Mutex<[Int]>([])
func takeSeen() -> [Int] {
  seen.withLock { list in
    defer { list = [] }
    return list
  }
}

final class Object: Sendable {
  @Manual deinit {
    let number = TL.number
    seen.withLock { $0.append(number) }
    expectNil(TL.token)
    // A binding made here ends here.
    TL.$number.withValue(-1) { expectEqual(-1, TL.number) }
    expectEqual(0, TL.number)
  }
}

/// Drop objects with and without a binding, in a task.
func release() {
  inTask {
    _ = Object()
    TL.$number.withValue(1) { _ = Object() }
  }
}

/// A default actor, whose drain is a job of the thread pool, or of `Pool`.
@globalActor actor Default: GlobalActor { static let shared = Default() }

final class OnDefault: Sendable {
  @Default deinit {
    let number = TL.number
    seen.withLock { $0.append(number) }
  }
}

@Default func touchDefault() {}

/// A task executor that keeps its jobs until it is told to run them.
final class Pool: TaskExecutor {
  private let jobs = Mutex<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let unowned = UnownedJob(job)
    jobs.withLock { $0.append(unowned) }
  }

  func run() {
    let batch = jobs.withLock { jobs in
      defer { jobs = [] }
      return jobs
    }
    for job in batch { job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}

/// Run the jobs within bindings, which must be there again afterwards.
@Sendable func runWithinBindings() { withinBindings(Manual.executor.run) }

@Sendable func withinBindings(_ body: () -> Void) {
  TL.$token.withValue(Token("t")) {
    TL.$number.withValue(42) {
      body()
      expectEqual(42, TL.number)
    }
    expectEqual(0, TL.number)
    expectNotNil(TL.token)
  }
}

let suite = TestSuite("IsolatedDeinitHopStopLookup")

@main struct Main {
  static func main() {
    suite.test("a thread without bindings") {
      release()
      Manual.executor.run()
      expectEqual([0, 0], takeSeen())
    }

    suite.test("bindings of a thread, without a task") {
      release()
      runWithinBindings()
      expectEqual([0, 0], takeSeen())
    }

    suite.test("bindings of a task") {
      release()
      inTask(runWithinBindings)
      expectEqual([0, 0], takeSeen())
    }

    suite.test("a task without bindings") {
      release()
      inTask { Manual.executor.run() }
      expectEqual([0, 0], takeSeen())
    }

    suite.test("a deinit that drops another object") {
      final class Outer: Sendable {
        let inner = Object()
        @Manual deinit { expectEqual(0, TL.number) }
      }
      inTask { TL.$number.withValue(1) { _ = Outer() } }
      runWithinBindings()
      expectEqual([0], takeSeen())
    }

    suite.test("an actor that is drained within bindings") {
      let pool = Pool()
      @Sendable func drain() { withinBindings(pool.run) }
      for run in [drain, { inTask(drain) }] {
        Task.detached(executorPreference: pool) { await touchDefault() }
        // The task starts, and waits for the actor. The pool gets the drain of the
        // actor, because the task that prefers it is first in the queue.
        pool.run()
        inTask { TL.$number.withValue(1) { _ = OnDefault() } }
        run()
        expectEqual([0], takeSeen())
        // The task may come back to end.
        pool.run()
      }
    }

    runAllTests()
  }
}
