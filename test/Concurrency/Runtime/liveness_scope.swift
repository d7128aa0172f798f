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

// Scopes, checkpoints and questions of a program's own.

import CLiveness
import Dispatch
import Glibc
import StdlibUnittest
import Synchronization

/// What the callback got, in order.
struct Seen: Sendable {
  var kind: UInt32
  var thread: UInt32
  var scope: String
  var milliseconds: UInt64
  var checkpoints: [UInt64]
  var text: String
}
let seen = Mutex<[Seen]>([])

func string(_ text: UnsafePointer<CChar>?) -> String { text.map { String(cString: $0) } ?? "" }

func note(_ report: UnsafePointer<swift_liveness_report>?, _: UnsafeMutableRawPointer?) {
  let report = report!.pointee
  let entry = Seen(
    kind: report.kind, thread: report.thread?.pointee.thread_id ?? 0,
    scope: report.thread.map { string($0.pointee.scope) } ?? "",
    milliseconds: report.duration_ns / 1_000_000,
    checkpoints: Array(UnsafeBufferPointer(start: report.checkpoints,
                                           count: report.checkpoint_count)),
    text: String(cString: report.text))
  seen.withLock {
    // Further reports of the same are not of interest.
    if let last = $0.last, last.kind == entry.kind, last.scope == entry.scope { return }
    $0.append(entry)
  }
}

func start(_ timeout: UInt32, interval: UInt32 = 0) {
  var config = swift_liveness_config(); config.size = MemoryLayout<swift_liveness_config>.size
  config.timeout_ms = timeout
  config.interval_ms = interval
  config.history = 5  // rounded up to 8
  config.quiet = true
  expectTrue(swift_liveness_start(&config))
  swift_liveness_setCallback(note, nil)
  seen.withLock { $0 = [] }
}

func sleep(ms: UInt32) { usleep(ms * 1000) }

/// The monitor may be late beside other programs.
func wait(until isTrue: () -> Bool) {
  // Without the monitor it never is.
  guard swift_liveness_isAvailable() else { return }
  for _ in 0..<100 where !isTrue() { sleep(ms: 100) }
}

func stuck() -> [Seen] {
  seen.withLock { $0 }.filter { Int($0.kind) == swift_liveness_report_stuck }
}

func history() -> [UInt64] {
  var ids = [UInt64](repeating: 0, count: 100)
  let count = swift_liveness_history(&ids, ids.count)
  return Array(ids.prefix(count))
}

@main struct Main {
  static func main() {
    let tests = TestSuite("Liveness")

    tests.test("settings out of range") {
      var config = swift_liveness_config(); config.size = MemoryLayout<swift_liveness_config>.size
      config.timeout_ms = 9
      expectFalse(swift_liveness_start(&config))
      config.timeout_ms = 86_400_001
      expectFalse(swift_liveness_start(&config))
      config.timeout_ms = 100
      config.action = 5
      expectFalse(swift_liveness_start(&config))
      config.action = 0
      config.history = 4097
      expectFalse(swift_liveness_start(&config))
      expectTrue(withLivenessScope("off") { !$0.isEnabled })
    }

    tests.test("a scope that takes too long") {
      start(100)
      withLivenessScope("outer") { scope in
        expectTrue(scope.isEnabled)
        for id in 1...20 { scope.checkpoint(UInt64(id)) }
        expectEqual(Array(13...20), history())
        sleep(ms: 500)
        wait { !stuck().isEmpty }
      }
      wait { seen.withLock { $0.count } == 2 }
      let reports = seen.withLock { $0 }
      expectEqual([0, 1], reports.map(\.kind))
      expectEqual(["outer", ""], reports.map(\.scope))
      // The oldest one of a full ring may be written over meanwhile.
      expectEqual(Array(14...20), reports[0].checkpoints)
      expectEqual(UInt32(getpid()), reports[0].thread)
      expectTrue(reports[0].milliseconds >= 100)
      expectTrue(reports[1].milliseconds >= reports[0].milliseconds)
      expectTrue(reports[0].text.contains("scope \"outer\", blocked, stuck for"))
    }

    tests.test("checkpoints in time") {
      start(400)
      withLivenessScope("loop") { scope in
        for id in 0..<20 {
          sleep(ms: 50)
          if id % 2 == 0 { scope.checkpoint(1) } else { livenessCheckpoint(2) }
        }
        expectEqual([1, 2, 1, 2, 1, 2, 1, 2], history())
      }
      expectEqual([], seen.withLock { $0.map(\.text) })
    }

    tests.test("of nested scopes the outermost counts") {
      start(100)
      withLivenessScope("first", timeout: .seconds(1000)) { _ in
        withLivenessScope("second", timeout: .milliseconds(20)) {
          expectFalse($0.isEnabled)
          sleep(ms: 400)
        }
      }
      expectEqual(0, stuck().count)
      withLivenessScope("third") {
        expectTrue($0.isEnabled)
        withLivenessScope("fourth", timeout: .seconds(1000)) { _ in
          sleep(ms: 400)
          wait { !stuck().isEmpty }
        }
      }
      expectEqual(["third"], stuck().map(\.scope))
    }

    tests.test("a timeout of its own") {
      start(1000)
      withLivenessScope("short", timeout: .milliseconds(50)) { _ in wait { !stuck().isEmpty } }
      expectEqual("short", stuck().first?.scope)
      expectTrue(stuck().first.map { $0.milliseconds < 1000 } == true)
    }

    tests.test("a scope that is not enabled") {
      start(50)
      withLivenessScope("no", isEnabled: false) {
        expectFalse($0.isEnabled)
        $0.checkpoint(1)
        sleep(ms: 300)
      }
      expectEqual(0, stuck().count)
    }

    tests.test("errors leave the scope") {
      start(50)
      struct Failure: Error {}
      do {
        try withLivenessScope("throws") { _ throws(Failure) in throw Failure() }
        expectUnreachable()
      } catch {}
      sleep(ms: 300)
      expectEqual(0, stuck().count)
    }

    tests.test("questions") {
      start(100)
      let ready = DispatchSemaphore(value: 0), end = DispatchSemaphore(value: 0)
      let left = DispatchSemaphore(value: 0)
      let thread = Thread {
        withLivenessScope("asked") { scope in
          scope.checkpoint(4711)
          ready.signal()
          end.wait()
        }
        left.signal()
      }
      ready.wait()
      var counts = swift_liveness_counts(); counts.size = MemoryLayout<swift_liveness_counts>.size
      wait {
        swift_liveness_getCounts(&counts)
        return counts.stuck == 1 && counts.reports >= 1
      }
      expectTrue(counts.threads >= 2)
      expectEqual(1, counts.busy)
      expectEqual(1, counts.stuck)
      expectTrue(counts.reports >= 1)

      final class Found { var all = 0; var asked: [swift_liveness_thread] = [] }
      let found = Found()
      swift_liveness_forEachThread({ thread, context in
        let found = Unmanaged<Found>.fromOpaque(context!).takeUnretainedValue()
        found.all += 1
        if string(thread!.pointee.scope) == "asked" { found.asked.append(thread!.pointee) }
      }, Unmanaged.passUnretained(found).toOpaque())
      expectEqual(Int(counts.threads), found.all)
      let asked = found.asked
      expectEqual(1, asked.count)
      expectEqual(swift_liveness_stuck, Int(asked[0].activity))
      expectEqual(swift_liveness_os_blocked, Int(asked[0].os_state))
      expectEqual(1, asked[0].checkpoints)
      expectTrue(asked[0].duration_ns >= 100_000_000)

      end.signal()
      left.wait()
      swift_liveness_check()
      swift_liveness_getCounts(&counts)
      expectEqual(0, counts.stuck)
      thread.join()
    }

    tests.test("a look in between") {
      // The monitor itself looks once a day.
      start(300, interval: 86_400_000)
      withLivenessScope("looked at") { _ in
        swift_liveness_check()
        sleep(ms: 10)
        swift_liveness_check()
        expectEqual(0, stuck().count)
        sleep(ms: 400)
        swift_liveness_check()
        wait { !stuck().isEmpty }
        expectEqual(["looked at"], stuck().map(\.scope))
      }
    }

    tests.test("a callback that asks") {
      start(50)
      swift_liveness_setCallback({ _, _ in
        var counts = swift_liveness_counts(); counts.size = MemoryLayout<swift_liveness_counts>.size
        swift_liveness_getCounts(&counts)
        seen.withLock {
          $0.append(Seen(kind: 100, thread: counts.stuck, scope: "", milliseconds: 0,
                         checkpoints: [], text: ""))
        }
      }, nil)
      withLivenessScope("asked") { _ in wait { seen.withLock { $0.contains { $0.kind == 100 } } } }
      // The last report of the test before may come late, to the callback before.
      expectEqual(1, seen.withLock { $0.filter { $0.kind == 100 }.map(\.thread).max() })
    }

    tests.test("stop and start") {
      start(50)
      swift_liveness_stop()
      withLivenessScope("stopped") {
        expectFalse($0.isEnabled)
        sleep(ms: 300)
      }
      expectEqual(0, stuck().count)
      start(50)
      withLivenessScope("started") { _ in wait { !stuck().isEmpty } }
      expectEqual(["started"], stuck().map(\.scope))
      for _ in 0..<200 {
        swift_liveness_stop()
        start(50)
      }
    }

    runAllTests()
  }
}

/// A thread that is not of any pool.
final class Thread {
  private var thread = pthread_t()

  init(_ body: @escaping () -> Void) {
    let box = Unmanaged.passRetained(Box(body))
    pthread_create(&thread, nil, { argument in
      Unmanaged<Box>.fromOpaque(argument!).takeRetainedValue().body()
      return nil
    }, box.toOpaque())
  }

  func join() { pthread_join(thread, nil) }

  private final class Box {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
  }
}
