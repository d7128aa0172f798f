// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -target %target-future-triple -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out | %FileCheck %s

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu
// XFAIL: without_executor-backlog

// A tree of 111,111 tasks does not grow in breadth: some thousand are alive at once, now and then 30,000, not nearly
// all. There are more on a runtime that is slow, such as one with a sanitizer, and beside other processes (65,000
// beside four that spin), because jobs that have waited for 1 ms come first. In breadth there are 111,110.

import Synchronization

let alive = Atomic(0)
let most = Atomic(0)

func grow(_ levels: Int) async -> Int {
  if levels == 0 { return 1 }
  var tasks: [Task<Int, Never>] = []
  for _ in 0..<10 {
    most.max(alive.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
    tasks.append(
      Task {
        let count = await grow(levels - 1)
        alive.subtract(1, ordering: .relaxed)
        return count
      })
  }
  var count = 1
  for task in tasks { count += await task.value }
  return count
}

@main struct Main {
  static func main() async {
    var count = 0, mostAlive = 0
    // With one processor of a busy machine, many families have a turn.
    for _ in 0..<5 {
      most.store(0, ordering: .relaxed)
      count = await Task.detached { await grow(5) }.value
      mostAlive = most.load(ordering: .relaxed)
      if mostAlive < 100_000 { break }
    }
    print(count, "nodes")
    // CHECK: 111111 nodes
    print(mostAlive < 100_000 ? "narrow" : "\(mostAlive) tasks were alive at once")
    // CHECK: narrow
  }
}
