// RUN: %empty-directory(%t)
// RUN: %target-build-swift %import-libdispatch -parse-as-library -I %S/../../../liveness/include %S/../../../liveness/samples/LivenessScope.swift %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// A runtime without the monitor reports nothing.
// XFAIL: without_executor-liveness-scopes

// Threads come and go, processes fork and exit, timeouts are short and long.

import CLiveness
import Dispatch
import Glibc
import StdlibUnittest

/// The parent of a child sees only what the child returns.
@discardableResult func start(_ timeout: UInt32) -> Bool {
  var config = swift_liveness_config(); config.size = MemoryLayout<swift_liveness_config>.size
  config.timeout_ms = timeout
  config.quiet = true
  let isStarted = swift_liveness_start(&config)
  expectTrue(isStarted)
  return isStarted
}

func counts() -> swift_liveness_counts {
  var counts = swift_liveness_counts(); counts.size = MemoryLayout<swift_liveness_counts>.size
  swift_liveness_getCounts(&counts)
  return counts
}

func sleep(ms: UInt32) { usleep(ms * 1000) }

/// Sleeps until that is reported; other programs may keep the monitor waiting.
func sleepTooLong(ms: UInt32) {
  let reports = counts().reports
  sleep(ms: ms)
  // Without the monitor none comes.
  guard swift_liveness_isAvailable() else { return }
  for _ in 0..<100 where counts().reports == reports { sleep(ms: 100) }
}

// Swift hides it. The child here is a process of its own thereafter.
let fork = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)

/// The exit status of a child that runs `body`, -1 when a signal ended it.
func inChild(_ body: () -> Int32) -> Int32 {
  let child = fork()
  if child == 0 { exit(body()) }
  var status: Int32 = 0
  waitpid(child, &status, 0)
  return status & 0x7f == 0 ? (status >> 8) & 0xff : -1
}

/// Runs `body` on so many threads at once; `meanwhile` when all have called `arrived`.
func onThreads(_ count: Int, _ body: @escaping (_ arrived: () -> Void) -> Void,
               meanwhile: () -> Void) {
  let arrived = DispatchSemaphore(value: 0), go = DispatchSemaphore(value: 0)
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  pthread_attr_setstacksize(&attributes, 128 * 1024)
  final class Work { let run: () -> Void; init(_ run: @escaping () -> Void) { self.run = run } }
  let work = Work { body { arrived.signal(); go.wait() } }
  let threads = (0..<count).map { _ in
    var thread = pthread_t()
    let error = pthread_create(&thread, &attributes, {
      Unmanaged<Work>.fromOpaque($0!).takeRetainedValue().run()
      return nil
    }, Unmanaged.passRetained(work).toOpaque())
    expectEqual(0, error)
    return thread
  }
  for _ in 0..<count { arrived.wait() }
  meanwhile()
  for _ in 0..<count { go.signal() }
  for thread in threads { pthread_join(thread, nil) }
}

@main struct Main {
  static func main() {
    let tests = TestSuite("LivenessThreads")
    let sanitized = TestRunPredicate.custom(
      { dlsym(nil, "__tsan_init") != nil },
      reason: "ThreadSanitizer lets no child of a fork start threads")

    tests.test("thousands of threads") {
      // None is to be stuck when the last one arrives: with ThreadSanitizer that takes many seconds.
      start(600_000)
      let before = counts().threads
      for _ in 0..<3 {
        onThreads(2000, { arrived in
          withLivenessScope("one of many") { scope in
            scope.checkpoint(1)
            arrived()
          }
        }, meanwhile: {
          let now = counts()
          expectEqual(before + 2000, now.threads)
          expectEqual(2000, now.busy)
          expectEqual(0, now.stuck)
          swift_liveness_check()
        })
        expectEqual(before, counts().threads)
        expectEqual(0, counts().busy)
      }
    }

    tests.test("threads that come and go while the monitor looks") {
      start(10)
      for _ in 0..<50 {
        onThreads(20, { arrived in
          for _ in 0..<100 { withLivenessScope("short") { $0.checkpoint(2) } }
          arrived()
        }, meanwhile: swift_liveness_check)
      }
    }

    tests.test("a history is of one thread") {
      start(1000)
      for _ in 0..<100 {
        onThreads(1, { arrived in
          var ids = [UInt64](repeating: 0, count: 16)
          livenessCheckpoint(5)
          let count = swift_liveness_history(&ids, ids.count)
          expectEqual([5], Array(ids.prefix(count)))
          arrived()
        }, meanwhile: {})
      }
    }

    tests.test("fork").skip(sanitized).code {
      start(50)
      withLivenessScope("parent, too long") { _ in sleepTooLong(ms: 400) }
      expectLT(0, counts().reports)
      let status = inChild {
        // The parent's other threads and reports are not the child's.
        guard counts().threads == 1 else { return 1 }
        guard counts().reports == 0 else { return 2 }
        withLivenessScope("child") { _ in sleepTooLong(ms: 400) }
        guard counts().reports == 1 else { return 3 }
        return 42
      }
      expectEqual(42, status)
      // A scope goes on in the child, and its timeout.
      withLivenessScope("both", timeout: .milliseconds(50)) { _ in
        expectEqual(42, inChild {
          withLivenessScope("nested") { _ in sleepTooLong(ms: 400) }
          return counts().reports == 1 ? 42 : 4
        })
      }
      let reports = counts().reports
      withLivenessScope("parent again") { _ in sleepTooLong(ms: 400) }
      expectEqual(reports + 1, counts().reports)
    }

    tests.test("exit while the monitor works").skip(sanitized).code {
      for i in 0..<100 {
        let status = inChild {
          guard start(10) else { return 100 }
          return withLivenessScope("exits") { _ in
            // Before, at and after the report.
            sleep(ms: UInt32(i % 20))
            return Int32(i)
          }
        }
        expectEqual(Int32(i), status)
      }
    }

    tests.test("timeouts") {
      for timeout in [10, 20, 50, 100, 200] as [UInt32] {
        start(timeout)
        let reports = counts().reports
        withLivenessScope("too long") { _ in sleepTooLong(ms: timeout * 3 + 100) }
        expectEqual(reports + 1, counts().reports)
        withLivenessScope("in time") { scope in
          for _ in 0..<10 {
            sleep(ms: timeout / 10)
            scope.checkpoint(3)
          }
        }
      }
      let reports = counts().reports
      for timeout in [60_000, 3_600_000, 86_400_000] as [UInt32] {
        start(timeout)
        withLivenessScope("in time") { _ in sleep(ms: 300) }
      }
      expectEqual(reports, counts().reports)
    }

    runAllTests()
  }
}
