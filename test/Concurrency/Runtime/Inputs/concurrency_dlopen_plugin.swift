import Synchronization

@globalActor actor Target { static let shared = Target() }

let key = TaskLocal<Int>(wrappedValue: 0)
let left = Atomic(0)

final class Object: Sendable {
  @Target deinit { left.subtract(1, ordering: .releasing) }
}

/// Enqueues `count` isolated deinits and as many tasks from the calling thread.
@_cdecl("plugin_enqueue")
public func enqueue(_ count: Int32) {
  left.add(2 * Int(count), ordering: .relaxed)
  key.withValue(1) {
    for _ in 0..<count { _ = Object() }
    for _ in 0..<count {
      Task {
        precondition(key.get() == 1)
        left.subtract(1, ordering: .releasing)
      }
    }
  }
}

/// How many of them have not run.
@_cdecl("plugin_left")
public func countLeft() -> Int32 { Int32(left.load(ordering: .acquiring)) }
