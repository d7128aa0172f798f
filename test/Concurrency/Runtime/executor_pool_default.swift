// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ThreadName.swift %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env -u SWIFT_POOL -u SWIFT_POOL_WIDTH %target-run %t/a.out pool
// RUN: env -u SWIFT_POOL %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out pool
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out pool
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out dispatch
// Values that cannot be used leave the default, with a warning.
// RUN: env %env-SWIFT_POOL=2 %target-run %t/a.out pool
// RUN: env %env-SWIFT_POOL=maybe %target-run %t/a.out pool
// RUN: env %env-SWIFT_POOL=-1 %target-run %t/a.out pool
// RUN: env %env-SWIFT_POOL=' 1' %target-run %t/a.out pool

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu
// XFAIL: without_executor-default

// Tasks, and then blocks of global queues, run on the pool unless a variable says otherwise. A program
// without tasks has no thread of it.

import Dispatch
import Glibc
import Synchronization

func checkTasks(_ hasPool: Bool) {
  let tasks = Counter()
  for _ in 0..<1000 {
    Task.detached {
      let name = threadName()
      expect(name.hasPrefix("swift-pool-") == hasPool, "a task runs on \(name)")
      tasks.add()
    }
  }
  wait(for: "1,000 tasks") { tasks.count == 1000 }
}

func checkBlocks(_ hasPool: Bool) {
  let blocks = Counter()
  for _ in 0..<100 {
    DispatchQueue.global().async {
      let name = threadName()
      expect(name.hasPrefix("swift-pool-") == hasPool, "a block runs on \(name)")
      blocks.add()
    }
  }
  wait(for: "100 blocks") { blocks.count == 100 }
}

@main struct Main {
  static func main() {
    let hasPool = CommandLine.arguments.dropFirst().first == "pool"
    watch("the default", 60)
    expect(poolThreadCount() == 0, "there are threads of the pool before the first task")
    checkTasks(hasPool)
    checkBlocks(hasPool)
    expect((poolThreadCount() > 0) == hasPool, "\(poolThreadCount()) threads of the pool")
    exit(failures.count == 0 ? 0 : 1)
  }
}
