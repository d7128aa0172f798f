// RUN: %empty-directory(%t)
// RUN: %target-build-swift -target %target-future-triple -parse-as-library %import-libdispatch %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: for what in blocks tasks begun actors; do env %env-SWIFT_POOL=1 %target-run %t/a.out $what 2>/dev/null || exit 1; done | %FileCheck %s
// RUN: for what in blocks begun; do env %env-SWIFT_POOL=0 %target-run %t/a.out $what || exit 1; done

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu
// XFAIL: without_executor-rescue-begun && !without_executor-pool

// More jobs of one class block for ever than the pool may have threads and helpers: the other classes go on.

import Dispatch
import Glibc

let never = DispatchSemaphore(value: 0)
func block() { never.wait() }
actor Blocking { func block() { never.wait() } }

@main struct Main {
  static func main() {
    let what = CommandLine.arguments[1]
    for _ in 0..<300 {
      switch what {
      case "blocks": DispatchQueue.global(qos: .utility).async { block() }
      case "begun":
        Task.detached(priority: .utility) {
          await Task.yield()
          block()
        }
      case "actors":
        let own = Blocking()
        Task.detached(priority: .utility) { await own.block() }
      default: Task.detached(priority: .utility) { block() }
      }
    }
    // With blocks alone, there would be no pool.
    Task.detached {}
    sleep(3)
    var allRan = true
    for (name, priority) in [("default", TaskPriority.medium), ("high", .high), ("background", .background)] {
      let done = DispatchSemaphore(value: 0)
      Task.detached(priority: priority) { done.signal() }
      let ran = done.wait(timeout: .now() + 20) == .success
      print(what, name, ran ? "ran" : "did not run")
      allRan = allRan && ran
    }
    exit(allRan ? 0 : 1)
  }
}

// CHECK: blocks default ran
// CHECK-NEXT: blocks high ran
// CHECK-NEXT: blocks background ran
// CHECK: tasks default ran
// CHECK-NEXT: tasks high ran
// CHECK-NEXT: tasks background ran
// CHECK: begun default ran
// CHECK-NEXT: begun high ran
// CHECK-NEXT: begun background ran
// CHECK: actors default ran
// CHECK-NEXT: actors high ran
// CHECK-NEXT: actors background ran
