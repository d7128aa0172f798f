// RUN: %target-run-simple-swift( -O -target %target-future-triple %import-libdispatch -parse-as-library) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// The frames of a sanitizer are larger.
// UNSUPPORTED: asan, tsan
// XFAIL: without_task-cancel-unlocked

// A thread with a small stack cancels deep trees, and one task with many groups and
// handlers, each in another. It takes no stack for a level.

import Glibc
import Synchronization

final class Gate: Sendable {
  private let continuation = Mutex<UnsafeContinuation<Void, Never>?>(nil)

  func wait() async {
    await withUnsafeContinuation { new in continuation.withLock { $0 = new } }
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
  func becomeWaiting() {
    while continuation.withLock({ $0 == nil }) { usleep(1000) }
    usleep(20_000)
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

/// Async lets, groups and handlers in turn.
@Sendable func mixed(_ depth: Int, _ gate: Gate) async {
  if depth == 0 { return await gate.wait() }
  await withTaskCancellationHandler {
    async let one: Void = withTaskGroup(of: Void.self) { group in
      group.addTask { await mixed(depth - 1, gate) }
      await group.waitForAll()
    }
    await one
  } onCancel: {
    handlers.add(1, ordering: .relaxed)
  }
}

let handlers = Atomic<Int>(0)

/// Groups in one task, each with a child that has a handler, and handlers of the task itself.
@Sendable func scopes(_ depth: Int, _ gate: Gate) async {
  if depth == 0 { return await gate.wait() }
  await withTaskGroup(of: Void.self) { group in
    group.addTask {
      await withTaskCancellationHandler {
        try? await Task.sleep(nanoseconds: 1_000_000_000_000)
      } onCancel: {
        handlers.add(1, ordering: .relaxed)
      }
    }
    if depth % 8 == 0 {
      await withTaskCancellationHandler {
        await scopes(depth - 1, gate)
      } onCancel: {
        handlers.add(1, ordering: .relaxed)
      }
    } else {
      await scopes(depth - 1, gate)
    }
  }
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

@main struct Main {
  static func main() async {
    for (depth, body) in [(20_000, groups), (20_000, lets), (5000, mixed), (2000, scopes)] {
      let gate = Gate()
      let task = Task.detached { await body(depth, gate) }
      gate.becomeWaiting()
      onSmallStack { task.cancel() }
      gate.open()
      await task.value
    }
    precondition(handlers.load(ordering: .relaxed) == 5000 + 2000 + 250)
    // CHECK: done
    print("done")
  }
}
