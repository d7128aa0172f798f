// RUN: %empty-directory(%t)
// RUN: %target-build-swift -target %target-future-triple -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %env-SWIFT_POOL=1 %target-run %t/a.out | %FileCheck %s
// RUN: %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out | %FileCheck %s

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu
// A sanitizer does not support a fork in a process with several threads.
// UNSUPPORTED: asan, tsan

// The child's tasks would never run.
// UNSUPPORTED: without_executor-pool

// The child of a fork, from a plain thread and from a job, has a pool of its own: its tasks
// run, and none of the parent's.

import Glibc
import Synchronization

@_silgen_name("fork") func forkProcess() -> pid_t

let isChild = Atomic(false)
let wrong = Atomic(0)
let runs = Atomic(0)

func work() async -> Int {
  await withTaskGroup(of: Int.self) { group in
    for number in 0..<100 {
      group.addTask {
        await Task.yield()
        return number
      }
    }
    return await group.reduce(0, +)
  }
}

/// Tasks of the parent, some of which are in a queue at any time.
func keepBusy() {
  let parent = getpid()
  for _ in 0..<50 {
    Task.detached {
      while true {
        if getpid() != parent { wrong.add(1, ordering: .relaxed) }
        runs.add(1, ordering: .relaxed)
        await Task.yield()
      }
    }
  }
}

func runInChild() -> Never {
  alarm(60)
  let sum = Atomic(0)
  Task.detached { sum.store(await work(), ordering: .relaxed) }
  while sum.load(ordering: .relaxed) == 0 { usleep(100) }
  _exit(sum.load(ordering: .relaxed) == 4950 && wrong.load(ordering: .relaxed) == 0 ? 7 : 8)
}

func wait(_ child: pid_t) -> Int32 {
  var status: Int32 = 0
  waitpid(child, &status, 0)
  return status
}

@main struct Main {
  static func main() {
    keepBusy()
    while runs.load(ordering: .relaxed) < 1000 { usleep(100) }

    var failures = 0
    for _ in 0..<50 {
      let child = forkProcess()
      if child == 0 { runInChild() }
      if wait(child) != 7 << 8 { failures += 1 }
    }
    // CHECK: from a plain thread: 0 failures
    print("from a plain thread: \(failures) failures")

    let done = Atomic(-1)
    Task.detached {
      var failures = 0
      for _ in 0..<50 {
        let child = forkProcess()
        if child == 0 { runInChild() }
        if wait(child) != 7 << 8 { failures += 1 }
        await Task.yield()
      }
      done.store(failures, ordering: .relaxed)
    }
    while done.load(ordering: .relaxed) < 0 { usleep(1000) }
    // CHECK: from a job: 0 failures
    print("from a job: \(done.load(ordering: .relaxed)) failures")

    // CHECK: the parent goes on: true
    let before = runs.load(ordering: .relaxed)
    for _ in 0..<60_000 where runs.load(ordering: .relaxed) < before + 1000 { usleep(1000) }
    print("the parent goes on:", runs.load(ordering: .relaxed) >= before + 1000)
  }
}
