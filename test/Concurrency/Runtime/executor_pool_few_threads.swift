// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out

// No more threads can be made: it works with those that are there, here a worker and one that
// looks after it.
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=8 %target-run %t/a.out threads-2 2>&1 | %FileCheck %s
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=8 %target-run %t/a.out threads-later 20 2>&1 | %FileCheck %s
// CHECK-NOT: FAILED
// CHECK: done

// There is none for a while: the thread that makes the task waits for it. One is enough.
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out threads-0 2>&1 | %FileCheck %s
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out threads-1 2>&1 | %FileCheck %s

// There is one, which blocks, and for a while nobody can look after it.
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=8 %target-run %t/a.out threads-soon 2>&1 | %FileCheck %s

// RUN: %if !without_executor-dispatch %{ env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=8 %target-run %t/a.out threads-block 2>&1 | %FileCheck %s -check-prefix=BLOCK %}
// BLOCK: Warning: jobs block all 5 threads of SWIFT_POOL, and others wait.
// BLOCK: done

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu
// pthread_create is the sanitizer's there.
// UNSUPPORTED: asan, tsan
// An emulator's threads wait for each other while it translates what they run, so others stand
// in for threads that only compute.
// UNSUPPORTED: emulated
// XFAIL: without_executor-no-threads

// What happens if a thread cannot be made: none, one, a few, or none for a while.

import Dispatch
import Glibc
import Synchronization

/// Allows so many threads, and any number 300 ms later, which the returned thread does.
func limitThreads(_ count: Int32) -> pthread_t {
  let isLimited = Flag()
  let helper = startThread {
    while !isLimited.isSet { usleep(1000) }
    usleep(300_000)
    allowThreads(-1)
  }
  allowThreads(count)
  isLimited.set()
  return helper
}

@main struct Main {
  static func main() {
    let words = CommandLine.arguments.dropFirst()
    watch(words.joined(separator: " "), 60)
    switch words.first {
    // All threads that there are block for long: that is told. They run blocks of Dispatch afterwards.
    case "threads-block":
      allowThreads(6)
      let ended = DispatchGroup(), begun = Counter()
      for _ in 0..<10 {
        ended.enter()
        Task.detached {
          // As many as there are threads.
          if begun.add() <= 5 { sleep(3) }
          ended.leave()
        }
      }
      ended.wait()
      let ran = DispatchSemaphore(value: 0)
      DispatchQueue.global().async { ran.signal() }
      expect(ran.wait(timeout: .now() + 10) == .success, "a block does not run")
    case "threads-soon":
      let helper = limitThreads(1)
      let ran = DispatchSemaphore(value: 0), end = DispatchSemaphore(value: 0)
      Task.detached {
        ran.wait()
        end.signal()
      }
      usleep(10_000)
      Task.detached { ran.signal() }
      end.wait()
      expect(refusedThreads() > 0, "no thread was refused")
      pthread_join(helper, nil)
    case "threads-0":
      let helper = limitThreads(0)
      Task.detached {}
      pthread_join(helper, nil)
      expectWork("when threads can be made again")
      expect(refusedThreads() > 0, "no thread was refused")
    case "threads-1":
      allowThreads(1)
      expectWork("with one thread")
      expect(refusedThreads() > 0, "no thread was refused")
      allowThreads(-1)
      usleep(200_000)
      // Now there is one that sees that the other one is not enough.
      expectWork("with the threads that can be made now")
      let end = DispatchSemaphore(value: 0)
      Task.detached {
        let ran = DispatchSemaphore(value: 0)
        Task.detached { ran.signal() }
        ran.wait()
        end.signal()
      }
      end.wait()
    case "threads-2":
      allowThreads(2)
      expectWork("with few threads")
      expect(refusedThreads() > 0, "no thread was refused")
      // Some block, and nobody can stand in.
      let end = Flag()
      let ran = Counter()
      for _ in 0..<4 {
        Task.detached {
          let start = nowInNanoseconds()
          while !end.isSet && nowInNanoseconds() - start < 300_000_000 { usleep(1000) }
          ran.add()
        }
      }
      wait(for: "jobs that sleep") { ran.count == 4 }
      expect(refusedThreads() < 1000, "pthread_create was called \(refusedThreads()) times in vain")
    // Who makes the second thread, the one that makes the first worker or that worker, is
    // not the same each time.
    case "threads-later" where words.count > 1:
      for _ in 0..<20 { startAgain("threads-later") }
    case "threads-later":
      allowThreads(2)
      expectWork("with two threads")
      expect(refusedThreads() > 0, "no thread was refused")
      allowThreads(-1)
      // Now there are as many as wanted.
      let begun = Counter()
      let ended = DispatchSemaphore(value: 0)
      for _ in 0..<8 {
        Task.detached {
          begun.add()
          while begun.count < 8 { usleep(500) }
          ended.signal()
        }
      }
      for _ in 0..<8 { ended.wait() }
      expectWork("with all threads")
    default: fail("an argument is missing")
    }
    print(failures.count == 0 ? "done" : "failed")
    exit(failures.count == 0 ? 0 : 1)
  }
}
