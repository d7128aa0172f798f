/// Marks of a program's own for the runtime's liveness monitor.
///
/// It needs the folder include for the module CLiveness; see swift_liveness.h for how to
/// start the monitor, for callbacks and for questions. On a runtime without the
/// monitor everything here does nothing.

import CLiveness

/// A named part of a thread's work. Made by `withLivenessScope`.
public struct LivenessScope: ~Copyable {
  private var marks = swift_liveness_marks()

  /// Whether this scope counts: the monitor is on, and no scope is around it.
  public let isEnabled: Bool

  fileprivate init(_ name: StaticString, timeout: Duration?, isEnabled: Bool) {
    guard isEnabled, swift_liveness_isAvailable() else {
      self.isEnabled = false
      return
    }
    precondition(name.hasPointerRepresentation)
    let pointer = UnsafeRawPointer(name.utf8Start)
      .assumingMemoryBound(to: CChar.self)
    var limit: UInt32 = 0
    if let timeout { limit = milliseconds(timeout) }
    self.isEnabled = swift_liveness_scopeBegin(pointer, limit)
    swift_liveness_getMarks(&marks)
  }

  deinit {
    if isEnabled { swift_liveness_scopeEnd(true) }
  }

  /// Marks progress, and keeps `id` in the thread's history.
  public mutating func checkpoint(_ id: UInt64) {
    swift_liveness_mark(&marks, id)
  }
}

/// Runs `body` in a named scope: when it passes no checkpoint for `timeout`, the
/// monitor reports its thread with this name. Of nested scopes the outermost
/// counts. For a body that does not suspend; a task that does is watched anyway.
///
/// - Parameters:
///   - timeout: 1 ms up to 49 days; nil: the monitor's.
///   - isEnabled: false: only `body` runs.
public func withLivenessScope<Result: ~Copyable, Failure: Error>(
  _ name: StaticString, timeout: Duration? = nil, isEnabled: Bool = true,
  _ body: (inout LivenessScope) throws(Failure) -> Result
) throws(Failure) -> Result {
  var scope = LivenessScope(name, timeout: timeout, isEnabled: isEnabled)
  return try body(&scope)
}

/// Marks progress of this thread, and keeps `id` in its history. Inside of
/// `withLivenessScope` its scope's `checkpoint` is faster.
public func livenessCheckpoint(_ id: UInt64) {
  if swift_liveness_isAvailable() { swift_liveness_checkpoint(id) }
}

private func milliseconds(_ duration: Duration) -> UInt32 {
  let (seconds, attoseconds) = duration.components
  return UInt32(clamping: max(1, seconds * 1000 + attoseconds / 1_000_000_000_000_000))
}
