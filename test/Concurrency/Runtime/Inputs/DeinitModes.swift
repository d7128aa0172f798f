// The Swift side of deinit-modes.h.

enum DeinitMode: Int32 {
  case reset = 0, copy, async, asyncCopy

  /// Whether the loaded runtime has the mode.
  var isSupported: Bool { deinit_mode_supported(rawValue) == 1 }

  /// Make this the mode of all isolated deinits that begin from now on.
  func use() { deinit_set_mode(rawValue) }
}

/// Stores a closure in the way that it is called, with the object in the first
/// register; a generic type would not.
private struct AsyncBody { var function: (AnyObject) async -> Void }

/// Keeps the contexts of the closures alive.
nonisolated(unsafe) private var asyncBodies: [AsyncBody] = []

/// In the async modes, run `body` before the isolated deinit of every object
/// whose class is `type` itself. The object stays alive meanwhile; the body must
/// not let a reference to it escape. Not thread-safe.
func setAsyncBody<T: AnyObject>(
  of type: T.Type, _ body: @escaping (T) async -> Void
) {
  let erased = AsyncBody { await body(unsafeDowncast($0, to: T.self)) }
  asyncBodies.append(erased)
  let (function, context) = withUnsafeBytes(of: erased) {
    $0.load(as: (UnsafeRawPointer, UnsafeRawPointer?).self)
  }
  deinit_set_async_body(
    unsafeBitCast(type as AnyClass, to: UnsafeRawPointer.self), function, context)
}
