// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-clang -x c -c %S/Inputs/forbidden-calls.c -o %t/calls.o
// RUN: cat %S/Inputs/executor-pool-support.h %S/Inputs/forbidden-calls.h > %t/all.h
// RUN: %target-build-swift -O -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %t/all.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o %t/calls.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out none %if !without_executor-rescue %{blocked%}
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out scheduler %if !without_executor-rescue %{blocked%}
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out priorities %if !without_executor-rescue %{blocked%}
// Without files 6.2.3 ends the process.
// RUN: %if !without_executor-default %{ env %env-SWIFT_POOL=1 %target-run %t/a.out files blocked %}
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out futexes %if !without_executor-rescue %{blocked%}

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu
// A sanitizer reads files of its process.
// UNSUPPORTED: asan, tsan

// Where a container forbids system calls of the pool, tasks run all the same: also those that block, sleep or come by
// a block, on all processors.

import Dispatch
import Glibc
import Synchronization

@main struct Main {
  static func main() {
    let filter = CommandLine.arguments[1]
    setvbuf(stdout, nil, _IOLBF, 0)
    watch(filter, 120)
    forbidCalls(filter)
    expectWork(filter)

    let slept = Counter()
    for priority in [TaskPriority.high, .medium, .background] {
      Task.detached(priority: priority) {
        try? await Task.sleep(nanoseconds: 1_000_000)
        slept.add()
      }
    }
    wait(for: "sleepers") { slept.count == 3 }

    let blocks = Counter()
    for _ in 0..<100 {
      DispatchQueue.global().async { Task.detached { DispatchQueue.global().async { blocks.add() } } }
    }
    wait(for: "blocks") { blocks.count == 100 }

    if CommandLine.arguments.contains("blocked") {
      let begin = DispatchSemaphore(value: 0), ended = Counter(), count = 4 * processors
      for _ in 0..<count {
        Task.detached {
          waitFor(begin)
          ended.add()
        }
      }
      Task.detached { for _ in 0..<count { begin.signal() } }
      wait(for: "jobs that block on a later one") { ended.count == count }
    }
    expectWork("\(filter), at the end")
    exit(isAllRight ? 0 : 1)
  }
}
