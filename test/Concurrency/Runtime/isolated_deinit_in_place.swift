// RUN: %target-run-simple-swift( -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// Isolated deinits that run in place, because their executor is current: what
// they see of task-local values, and what is seen again after them.

import Dispatch

enum Local {
  @TaskLocal static var value = 0
  @TaskLocal static var other = "none"
}

@globalActor actor Target { static let shared = Target() }

@Target final class Object {
  nonisolated let name: String
  nonisolated let inner: AnyObject?
  nonisolated init(_ name: String, _ inner: AnyObject? = nil) {
    (self.name, self.inner) = (name, inner)
  }
  isolated deinit {
    Target.shared.preconditionIsolated()
    print("\(name): \(Local.value) \(Local.other)", terminator: "")
    Local.$value.withValue(7) {
      _ = Inner(name)
      print(", bound \(Local.value) \(Local.other)")
    }
  }
}

/// Released while the deinit above has bound a value.
@Target final class Inner {
  nonisolated let name: String
  nonisolated init(_ name: String) { self.name = name }
  isolated deinit { print(", inner \(Local.value) \(Local.other)", terminator: "") }
}

@MainActor final class OnMain {
  nonisolated init() {}
  isolated deinit { print("main: \(Local.value) \(Local.other)") }
}

actor Own {
  isolated deinit { print("own: \(Local.value) \(Local.other)") }
}

func after() { print("after: \(Local.value) \(Local.other)") }

@Target func unbound() {
  // CHECK: unbound: 0 none, inner 0 none, bound 7 none
  // CHECK-NEXT: after: 0 none
  _ = Object("unbound")
  after()
}

@Target func bound() async {
  await Local.$value.withValue(1) {
    await Local.$other.withValue("text") {
      // CHECK-NEXT: bound: 0 none, inner 0 none, bound 7 none
      // CHECK-NEXT: after: 1 text
      _ = Object("bound")
      after()
      // CHECK-NEXT: outer: 0 none, inner 0 none, bound 7 none
      // CHECK-NEXT: nested: 0 none, inner 0 none, bound 7 none
      // CHECK-NEXT: after: 1 text
      _ = Object("outer", Object("nested"))
      after()

      async let child: Void = { @Target in
        // CHECK-NEXT: child: 0 none, inner 0 none, bound 7 none
        // CHECK-NEXT: after: 1 text
        _ = Object("child")
        after()
      }()
      await child

      await withTaskGroup(of: Void.self) { group in
        Local.$value.withValue(2) {
          // CHECK-NEXT: group body: 0 none, inner 0 none, bound 7 none
          // CHECK-NEXT: after: 2 text
          _ = Object("group body")
          after()
          group.addTask { @Target in
            // CHECK-NEXT: group child: 0 none, inner 0 none, bound 7 none
            // CHECK-NEXT: after: 2 text
            _ = Object("group child")
            after()
          }
        }
        await group.waitForAll()
      }

      // A task that is created in the deinit inherits nothing from around it.
      // CHECK-NEXT: created: 0 none
      await Creator.created()

      // The actor is not current, but idle.
      // CHECK-NEXT: own: 0 none
      // CHECK-NEXT: after: 1 text
      _ = Own()
      after()
    }
  }
}

@Target final class Creator {
  nonisolated let done: @Sendable () -> Void
  nonisolated init(_ done: @escaping @Sendable () -> Void) { self.done = done }
  isolated deinit {
    Task { [done] in
      print("created: \(Local.value) \(Local.other)")
      done()
    }
  }
  static func created() async {
    await withCheckedContinuation { continuation in
      _ = Creator { continuation.resume() }
    }
  }
}

@main struct Main {
  static func main() async {
    await unbound()
    await bound()
    Local.$value.withValue(3) {
      // CHECK-NEXT: main: 0 none
      // CHECK-NEXT: after: 3 none
      _ = OnMain()
      after()
    }
  }
}
