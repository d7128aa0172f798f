// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=7 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu

// 131,071 tasks, each of which makes two more and ends. When a worker's list is full, what each of them makes is a
// family in its backlog: more wait than it has room for, so that the oldest become one. Each task runs once.

import Dispatch
import Glibc

let count = 1 << 17
nonisolated(unsafe) let ran = sharedNumbers(Int32(count))!
let ended = Counter()

@Sendable func run(_ number: Int) {
  addToShared(ran + number, 1)
  if 2 * number < count {
    for child in [2 * number, 2 * number + 1] { Task.detached { run(child) } }
  }
  ended.add()
}

@main struct Main {
  static func main() {
    Row.run([
      Row(name: "families", seconds: 120) {
        Task.detached { run(1) }
        wait(for: "all tasks") { ended.count == count - 1 }
        for number in 1..<count where ran[number] != 1 {
          fail("task \(number) has run \(ran[number]) times")
        }
      }
    ])
  }
}
