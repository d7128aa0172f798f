// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out

// With chaos's delays a worker may sleep in a job, and a stand-in comes: a thread more than the width.
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out off 2>&1 | %FileCheck --check-prefix=QUIET %s
// RUN: env %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL=1 %target-run %t/a.out on 2>&1 | %FileCheck --check-prefix=QUIET %s
// RUN: env %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=3 %target-run %t/a.out on 3 2>&1 | %FileCheck --check-prefix=QUIET %s
// RUN: env %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=64 %target-run %t/a.out on 64 2>&1 | %FileCheck --check-prefix=QUIET %s
// RUN: env %env-SWIFT_POOL=0 %env-SWIFT_POOL_WIDTH=3 %target-run %t/a.out off 2>&1 | %FileCheck --check-prefix=QUIET %s
// 0, which is documented to mean as many as there are processors.
// RUN: env %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=0 %target-run %t/a.out on 2>&1 | %FileCheck --check-prefix=QUIET %s
// QUIET-NOT: {{[Ww]arning|FAILED}}
// QUIET: done

// One line of warning. (executor_pool_default.swift has what runs then.)
// RUN: env %env-SWIFT_POOL=2 %target-run %t/a.out any > %t/two 2>&1
// RUN: %FileCheck --check-prefix=POOL %s < %t/two
// RUN: env %env-SWIFT_POOL=maybe %target-run %t/a.out any 2>&1 | %FileCheck --check-prefix=POOL %s
// RUN: env %env-SWIFT_POOL=-1 %target-run %t/a.out any 2>&1 | %FileCheck --check-prefix=POOL %s
// RUN: env %env-SWIFT_POOL=' 1' %target-run %t/a.out any 2>&1 | %FileCheck --check-prefix=POOL %s
// POOL-NOT: FAILED
// POOL: {{[Ww]arning.*SWIFT_POOL=}}
// POOL-NOT: {{[Ww]arning|FAILED}}
// POOL: done

// RUN: env %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=-3 %target-run %t/a.out on 2>&1 | %FileCheck --check-prefix=WIDTH %s
// RUN: env %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=2x %target-run %t/a.out on 2>&1 | %FileCheck --check-prefix=WIDTH %s
// RUN: env %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=many %target-run %t/a.out on 2>&1 | %FileCheck --check-prefix=WIDTH %s
// RUN: env %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1e1 %target-run %t/a.out on 2>&1 | %FileCheck --check-prefix=WIDTH %s
// RUN: env %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=4294967297 %target-run %t/a.out on 2>&1 | %FileCheck --check-prefix=WIDTH %s
// RUN: env %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=99999999999999999999999 %target-run %t/a.out on 2>&1 | %FileCheck --check-prefix=WIDTH %s
// RUN: env %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1025 %target-run %t/a.out on 2>&1 | %FileCheck --check-prefix=WIDTH %s
// WIDTH-NOT: FAILED
// WIDTH: {{[Ww]arning.*SWIFT_POOL_WIDTH=}}
// WIDTH-NOT: {{[Ww]arning|FAILED}}
// WIDTH: done

// The processors that the process may use when it starts, not those that the machine has.
// RUN: env %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL=1 %target-run %t/a.out pinned 2>&1 | %FileCheck --check-prefix=QUIET %s
// RUN: env %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL=1 %target-run %t/a.out pinned-thread 2>&1 | %FileCheck --check-prefix=QUIET %s
// RUN: env %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL=1 %target-run %t/a.out nice-thread 2>&1 | %FileCheck --check-prefix=QUIET %s

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu
// Threads of the sanitizer's own are counted.
// UNSUPPORTED: asan, tsan
// An emulator's threads wait for each other while it translates what they run, so others stand
// in for threads that only compute.
// UNSUPPORTED: emulated
// XFAIL: without_executor-pool

// The variables of the executor's threads, and what they say of values that cannot be used.

import Dispatch
import Glibc
import Synchronization

/// How many threads 20,000 short tasks have made. One may look after the others. On a busy
/// machine some may stand in for those that wait for a lock; these end soon.
func threadsMade(_ width: Int) -> Int {
  let before = Int(threadCount())
  let ran = Counter()
  for _ in 0..<20_000 {
    Task.detached {
      compute(2000)
      ran.add()
    }
  }
  wait(for: "20,000 tasks") { ran.count == 20_000 }
  for _ in 0..<100 where Int(threadCount()) - before > width + 1 { usleep(100_000) }
  return Int(threadCount()) - before
}

/// How many threads run `count` jobs at once that compute, as they are named; others must not
/// stand in for them.
func poolThreads(_ count: Int) -> Int {
  let begun = Counter()
  let ended = Counter()
  let stop = Flag()
  for _ in 0..<8 * count {
    Task.detached {
      begun.add()
      while !stop.isSet {}
      ended.add()
    }
  }
  wait(for: "\(count) jobs at once") { begun.count >= count }
  usleep(50_000)
  let named = Int(poolThreadCount())
  stop.set()
  wait(for: "the end of jobs that compute") { ended.count == 8 * count }
  return named
}

@main struct Main {
  static func main() {
    let words = CommandLine.arguments.dropFirst()
    let width = words.dropFirst().first.flatMap { Int($0) } ?? processors
    watch(words.joined(separator: " "), 60)
    switch words.first {
    case "on":
      let made = threadsMade(width)
      expect(made >= 1 && made <= width + 1, "\(made) threads for a width of \(width)")
      // More than these would take too long to get all of their processors.
      if width <= 2 * processors {
        let named = poolThreads(width)
        expect(named == width, "\(named) threads of the pool for a width of \(width)")
      }
    case "off":
      expectWork("without the pool")
      let named = poolThreads(1)
      expect(named == 0, "\(named) threads of the pool, which is off")
    case "pinned":
      // The width is that of the start, so another program is started.
      useProcessors(1)
      startAgain("on", "1")
    // The thread that makes the first task may use one processor only, but the others are
    // the program's.
    case "pinned-thread":
      pthread_join(startThread {
        useProcessors(1)
        runBlocking {}
      }, nil)
      expect(Int(processorCount()) == processors, "the main thread is pinned, too")
      let begun = Counter()
      let ended = DispatchSemaphore(value: 0)
      let takes = time {
        for _ in 0..<processors {
          Task.detached {
            begun.add()
            while begun.count < processors {}
            ended.signal()
          }
        }
        for _ in 0..<processors { ended.wait() }
      }
      judge("a job for each processor", [takes], median: 5000, worst: 5000)
      let counts = Mutex<Set<Int>>([])
      for _ in 0..<100 {
        runBlocking {
          compute(100_000)
          _ = counts.withLock { $0.insert(Int(processorCount())) }
        }
      }
      // With Dispatch's queues they may use one, as the thread that was first.
      expect(counts.withLock { $0 == [processors] },
             "jobs may use \(counts.withLock { $0.sorted() }) processors, not \(processors)")
    // The thread that makes the first task is nicer than the others are to be. (Who is not
    // allowed to take that back has to leave it.)
    case "nice-thread":
      let own = getpriority(0 /* PRIO_PROCESS */, 0)
      let other = own < 15 ? own + 5 : own - 5
      pthread_join(startThread {
        let thread = id_t(threadNumber())
        setpriority(0 /* PRIO_PROCESS */, thread, other)
        guard setpriority(0 /* PRIO_PROCESS */, thread, own) == 0 else { return }
        setpriority(0 /* PRIO_PROCESS */, thread, other)
        runBlocking {}
      }, nil)
      expectWork("after a task of a nicer thread")
      // A thread has it until it begins to run, and the one that made the task until it has ended:
      // on a busy machine that takes a while.
      wait(for: "the end of the nice value that the maker of a task has") { threadsOfNiceness(other) == 0 }
    default: expectWork("without a width")
    }
    print(isAllRight ? "done" : "failed")
    exit(isAllRight ? 0 : 1)
  }
}
