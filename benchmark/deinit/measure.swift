// Measures one point.

import Synchronization
#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// One line of the inputs file.
struct Point {
  var values: Int
  var objects: Int
  /// What the benchmark that copies keeps at most.
  var size: Int { (1 + values) * objects }
}

/// Nanoseconds of a clock that never goes backwards.
func now() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// The value of all task-locals: one strong reference.
final class Payload: Sendable {
  /// Not 0: some task-local value of a point is still held.
  static let alive = Atomic<Int>(0)
  init() { Payload.alive.add(1, ordering: .relaxed) }
  deinit { Payload.alive.subtract(1, ordering: .releasing) }
}

/// As many task-local keys as the largest point needs.
struct Keys: Sendable {
  private let keys: [TaskLocal<Payload?>]

  init(count: Int) { keys = (0..<count).map { _ in TaskLocal(wrappedValue: nil) } }

  /// Calls `body` with `payload` bound to the first `count` keys.
  func bind(_ count: Int, to payload: Payload, _ body: () -> Void) {
    if count == 0 { return body() }
    keys[count - 1].withValue(payload) { bind(count - 1, to: payload, body) }
  }
}

/// Nanoseconds; `waited`: while other programs had the core that a thread needed.
struct Measurement {
  var schedule, total, waited: UInt64

  /// Whether other programs took part in the result. A thread that is woken waits
  /// some microseconds even if its core is idle.
  var isDisturbed: Bool { waited > max(20_000, total / 50) }
}

/// Releases the objects of one point on `actor` (nil: on no actor).
/// Returns how long the release blocked its thread, and how long it took until
/// the last deinit body had ended.
func measure(
  _ point: Point, _ benchmark: Benchmark, ballast: Int, keys: Keys,
  on actor: isolated (any Actor)?
) async -> Measurement {
  // The objects are in memory behind a pointer, so that the compiler cannot
  // release them before the clock is read.
  let objects = UnsafeMutablePointer<[AnyObject]>.allocate(capacity: 1)
  defer { objects.deallocate() }
  var waited: UInt64 = 0
  var begin: UInt64 = 0
  var released: UInt64 = 0
  let end: UInt64 = await withUnsafeContinuation(isolation: actor) { continuation in
    deinit_keep_apart()
    let gauge = Gauge(objects: point.objects, ballast: ballast, finished: continuation)
    objects.initialize(to: benchmark.objects(point.objects, gauge))
    keys.bind(point.values, to: Payload()) {
      waited = deinit_waited()
      begin = now()
      objects.deinitialize(count: 1)
      released = now()
    }
  }
  let waitedNow = deinit_waited()
  return Measurement(
    schedule: released - begin, total: end - begin, waited: waitedNow - min(waited, waitedNow))
}
