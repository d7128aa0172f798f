// RUN: %target-run-simple-swift( -parse-as-library -target %target-future-triple -plugin-path %swift-plugin-dir) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// Tasks are enqueued on an actor at the very moment at which the actor claims what has
// been enqueued before. What was written to them is seen by who runs them.

actor Target {
  var sum = 0
  func add(_ n: Int) { sum += n }
  func get() -> Int { sum }
}

@main struct Main {
  static func main() async {
    let target = Target()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for n in 0..<1000 {
            let tasks = (0..<10).map { _ in Task { await target.add(n) } }
            for task in tasks { await task.value }
          }
        }
      }
    }
    print(await target.get())
  }
}

// CHECK: 39960000
