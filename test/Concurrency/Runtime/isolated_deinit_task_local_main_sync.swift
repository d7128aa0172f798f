// RUN: %target-run-simple-swift( -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// The unpatched runtime takes the stop-lookup marker from the task allocator
// and gives it to free().
// XFAIL: without_tasklocal-marker-off-task

// A program in the shape of a UI application: a synchronous main function, no
// task at all, an event handler that binds a task-local on the main thread, and
// objects of the main actor that go away inside that binding.

enum TL {
  @TaskLocal static var event: String = "none"
  @TaskLocal static var depth: Int = 0
}

@MainActor
final class View {
  static var destroyed = 0
  static var sawBinding = 0
  let name: String
  var child: View?

  init(_ name: String, child: View? = nil) {
    self.name = name
    self.child = child
  }

  isolated deinit {
    View.destroyed += 1
    if TL.event != "none" || TL.depth != 0 { View.sawBinding += 1 }
    if !name.isEmpty { print("deinit \(name): event = \(TL.event)") }
    TL.$depth.withValue(1) {
      // The child is destroyed on the fast path, too, under the binding above.
      child = nil
      if TL.depth != 1 { View.sawBinding += 1 }
    }
  }
}

@MainActor
func handleEvent(_ event: String, _ body: () -> Void) {
  TL.$event.withValue(event) {
    body()
    if event != TL.event { fatalError("binding lost: \(TL.event)") }
  }
}

@main
struct Main {
  @MainActor
  static func main() {
    // CHECK: deinit unbound: event = none
    do { _ = View("unbound") }

    // CHECK-NEXT: deinit window: event = none
    // CHECK-NEXT: deinit button: event = none
    // CHECK-NEXT: after: click
    handleEvent("click") {
      do { _ = View("window", child: View("button")) }
      print("after: \(TL.event)")
    }

    // Many markers at once: each object of a chain is destroyed inside the
    // deinit of the one before it.
    handleEvent("close all") {
      var chain: View? = nil
      for _ in 0..<200 { chain = View("", child: chain) }
      chain = nil
    }

    // The thread's storage of bindings comes and goes, deinits in between.
    for i in 0..<1000 {
      handleEvent("event \(i)") {
        do { _ = View("") }
        handleEvent("nested \(i)") { do { _ = View("") } }
      }
    }

    // CHECK-NEXT: destroyed 2203, bindings seen 0, outside: none
    print("destroyed \(View.destroyed), bindings seen \(View.sawBinding), outside: \(TL.event)")
  }
}
