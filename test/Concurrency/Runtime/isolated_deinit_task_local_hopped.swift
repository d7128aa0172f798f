// RUN: %target-run-simple-swift( -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// The unpatched runtime takes the stop-lookup marker from the task allocator
// and gives it to free().
// XFAIL: without_tasklocal-marker-off-task

// Async code only: a deinit that hopped runs as a plain job, so what it binds
// goes to the storage of the thread. An object of the same actor that is dropped
// inside that binding is destroyed on the fast path, without a task.

import Dispatch

enum TL {
  @TaskLocal static var value: String = "none"
}

@globalActor
actor Storage {
  static let shared = Storage()
  static let group = DispatchGroup()
  @Storage static var log: [String] = []
}

@Storage
final class Record {
  let name: String
  var child: Record?

  nonisolated init(_ name: String, child: Record? = nil) {
    self.name = name
    self.child = child
    Storage.group.enter()
  }

  isolated deinit {
    Storage.log.append("\(name): \(TL.value)")
    TL.$value.withValue("bound by \(name)") {
      child = nil
      Storage.log.append("\(name): \(TL.value)")
    }
    Storage.group.leave()
  }
}

func allDestroyed() async {
  await withCheckedContinuation { continuation in
    Storage.group.notify(queue: .global()) { continuation.resume() }
  }
}

@main
struct Main {
  static func main() async {
    await TL.$value.withValue("bound by main") {
      do { _ = Record("a", child: Record("b", child: Record("c"))) }
      await allDestroyed()
    }
    // CHECK: a: none
    // CHECK-NEXT: b: none
    // CHECK-NEXT: c: none
    // CHECK-NEXT: c: bound by c
    // CHECK-NEXT: b: bound by b
    // CHECK-NEXT: a: bound by a
    await Task { @Storage in
      for line in Storage.log { print(line) }
      Storage.log.removeAll()
    }.value

    for _ in 0..<500 {
      do { _ = Record("x", child: Record("y")) }
    }
    await allDestroyed()
    let wrong = await Task { @Storage in
      Storage.log.filter { !["x: none", "y: none", "x: bound by x", "y: bound by y"].contains($0) }
    }.value
    // CHECK-NEXT: 2000 lines, wrong: []
    print("\(await Task { @Storage in Storage.log.count }.value) lines, wrong: \(wrong)")
  }
}
