// The objects whose deinit is measured. All kinds have the same stored
// properties and the same deinit body, and differ only in where it runs.

import Synchronization

@globalActor actor FirstActor { static let shared = FirstActor() }
@globalActor actor SecondActor { static let shared = SecondActor() }

/// What the objects of one point share. Each holds a strong reference, so the
/// gauge lives until the last object is destroyed.
final class Gauge: Sendable {
  /// Gauges that exist. Not 0: some object of a point has not been destroyed.
  static let alive = Atomic<Int>(0)
  /// Deinit bodies of the current point that have not ended.
  static let remaining = Atomic<Int>(0)

  private let ballast: Int
  private let finished: UnsafeContinuation<UInt64, Never>

  /// `finished` is resumed with the time when the last of `objects` bodies ended.
  init(objects: Int, ballast: Int, finished: UnsafeContinuation<UInt64, Never>) {
    self.ballast = ballast
    self.finished = finished
    Gauge.alive.add(1, ordering: .relaxed)
    Gauge.remaining.store(objects, ordering: .relaxed)
  }

  deinit { Gauge.alive.subtract(1, ordering: .releasing) }

  /// The body of every deinit that is measured.
  func body() {
    deinit_ballast(ballast)
    let left = Gauge.remaining.subtract(1, ordering: .acquiringAndReleasing).newValue
    if left == 0 { finished.resume(returning: now()) }
    if left < 0 { fail("a deinit body ran twice", hint: "the runtime is broken: run utils/run-test") }
  }
}

final class NonisolatedNode {
  let gauge: Gauge
  nonisolated(unsafe) let left, right: AnyObject?
  init(_ gauge: Gauge, _ left: AnyObject?, _ right: AnyObject?) {
    (self.gauge, self.left, self.right) = (gauge, left, right)
  }
  deinit { gauge.body() }
}

@FirstActor final class FirstNode {
  let gauge: Gauge
  nonisolated(unsafe) let left, right: AnyObject?
  nonisolated init(_ gauge: Gauge, _ left: AnyObject?, _ right: AnyObject?) {
    (self.gauge, self.left, self.right) = (gauge, left, right)
  }
  isolated deinit { gauge.body() }
}

@SecondActor final class SecondNode {
  let gauge: Gauge
  nonisolated(unsafe) let left, right: AnyObject?
  nonisolated init(_ gauge: Gauge, _ left: AnyObject?, _ right: AnyObject?) {
    (self.gauge, self.left, self.right) = (gauge, left, right)
  }
  isolated deinit { gauge.body() }
}

/// What is written today where an async deinit is wanted: a task that captures
/// the state of the object.
final class TaskNode {
  let gauge: Gauge
  nonisolated(unsafe) let left, right: AnyObject?
  init(_ gauge: Gauge, _ left: AnyObject?, _ right: AnyObject?) {
    (self.gauge, self.left, self.right) = (gauge, left, right)
  }
  deinit {
    let gauge = self.gauge
    nonisolated(unsafe) let children = (left, right)
    Task { @FirstActor in
      gauge.body()
      withExtendedLifetime(children) {}
    }
  }
}

/// Makes one object, `depth` levels below the root of its tree.
typealias MakeNode = @Sendable (
  _ gauge: Gauge, _ depth: Int, _ left: AnyObject?, _ right: AnyObject?
) -> AnyObject

/// `count` objects as a complete binary tree; nil if count is 0.
func makeTree(_ count: Int, _ gauge: Gauge, _ make: MakeNode) -> AnyObject? {
  func subtree(_ index: Int, _ depth: Int) -> AnyObject? {
    guard index < count else { return nil }
    let left = subtree(2 * index + 1, depth + 1)
    let right = subtree(2 * index + 2, depth + 1)
    return make(gauge, depth, left, right)
  }
  return subtree(0, 0)
}
