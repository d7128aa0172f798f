// What task_cancel_deep.swift and task_escalation_deep.swift share: trees of tasks that
// wait at a gate, and a thread with a small stack.

import Glibc
import Synchronization

/// Where the innermost task waits. Once the gate is open, it asks whether it has been reached.
final class Gate: Sendable {
  private let continuation = Mutex<UnsafeContinuation<Void, Never>?>(nil)
  private let isReached: @Sendable () -> Bool
  private let passed = Atomic(0), reached = Atomic(0)

  init(_ isReached: @escaping @Sendable () -> Bool) { self.isReached = isReached }

  func wait() async {
    await withUnsafeContinuation { new in continuation.withLock { $0 = new } }
    if isReached() { reached.add(1, ordering: .relaxed) }
    passed.add(1, ordering: .releasing)
  }
  /// Once somebody waits.
  func open() {
    while true {
      let waiting = continuation.withLock { old in
        defer { old = nil }
        return old
      }
      if let waiting { return waiting.resume() }
      usleep(1000)
    }
  }
  func expectReached(_ what: String) {
    while passed.load(ordering: .acquiring) == 0 { usleep(1000) }
    let count = reached.load(ordering: .relaxed)
    precondition(count == 1, "\(count) innermost tasks of \(what) have been reached")
  }
  func becomeWaiting() {
    while continuation.withLock({ $0 == nil }) { usleep(1000) }
    // The tasks between begin to wait, too, as soon as they have a processor.
    usleep(300_000)
  }
}

@Sendable func groups(_ depth: Int, _ gate: Gate) async {
  if depth == 0 { return await gate.wait() }
  await withTaskGroup(of: Void.self) { group in
    group.addTask { await groups(depth - 1, gate) }
    await group.waitForAll()
  }
}

@Sendable func lets(_ depth: Int, _ gate: Gate) async {
  if depth == 0 { return await gate.wait() }
  async let one: Void = lets(depth - 1, gate)
  await one
}

func onSmallStack(_ body: @escaping @Sendable () -> Void) {
  final class Box {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  pthread_attr_setstacksize(&attributes, 512 << 10)
  var thread = pthread_t()
  pthread_create(
    &thread, &attributes,
    { box in
      Unmanaged<Box>.fromOpaque(box!).takeRetainedValue().body()
      return nil
    }, Unmanaged.passRetained(Box(body)).toOpaque())
  pthread_join(thread, nil)
}
