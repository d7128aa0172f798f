// RUN: %empty-directory(%t)
// RUN: %target-build-swift -target %target-future-triple -parse-as-library %import-libdispatch %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %env-SWIFT_POOL=1 %target-run %t/a.out | %FileCheck %s
// RUN: %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out | %FileCheck %s
// RUN: %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=7 %target-run %t/a.out | %FileCheck %s

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu

// It would hang.
// UNSUPPORTED: without_executor-rescue

// Jobs that block until another job has run: the pool adds threads, which end when they have
// nothing to do.

import Dispatch
import Glibc
import Synchronization

func block(_ semaphore: DispatchSemaphore) { semaphore.wait() }

func threadCount() -> Int {
  var count = 0
  let folder = opendir("/proc/self/task")!
  while readdir(folder) != nil { count += 1 }
  closedir(folder)
  return count - 2
}

func milliseconds(_ body: () async -> Void) async -> Int {
  let clock = ContinuousClock()
  let duration = await clock.measure { await body() }
  return Int(duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000)
}

@main struct Main {
  static func main() async {
    for count in [1, 2, 4, 8, 32, 128] {
      for priority in [TaskPriority.high, .medium, .background] {
        let semaphore = DispatchSemaphore(value: 0)
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<count {
            group.addTask(priority: .medium) { block(semaphore) }
          }
          group.addTask(priority: priority) {
            for _ in 0..<count { semaphore.signal() }
          }
        }
      }
    }
    // CHECK: blocked jobs: done
    print("blocked jobs: done")

    let time = await milliseconds {
      await Task.detached {
        for _ in 0..<100 {
          let semaphore = DispatchSemaphore(value: 0)
          Task.detached { semaphore.signal() }
          block(semaphore)
        }
      }.value
    }
    // CHECK: waits for the job that it has made: true
    print("waits for the job that it has made:", time < 5000 ? "true" : "\(time) ms")

    // A job that nobody blocks goes on beside as many blocked ones as there are threads.
    let semaphore = DispatchSemaphore(value: 0)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<20 { group.addTask { block(semaphore) } }
      group.addTask {
        for _ in 0..<1000 { await Task.yield() }
        for _ in 0..<20 { semaphore.signal() }
      }
    }
    // CHECK: beside blocked jobs: done
    print("beside blocked jobs: done")

    // All but the workers, the watcher and Dispatch's own threads go.
    for _ in 0..<20_000 where threadCount() > 7 + 8 { usleep(1000) }
    // CHECK: the others have ended: true
    print("the others have ended:", threadCount() <= 7 + 8)
  }
}
