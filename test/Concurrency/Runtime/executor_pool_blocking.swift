// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out "other priority" spin "long jobs" child
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out -bound %if without_executor-rescue-begun %{"-one that computes"%}
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out -bound %if without_executor-rescue-begun %{"-one that computes"%}
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=7 %target-run %t/a.out -bound %if without_executor-rescue-begun %{"-one that computes"%}
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL_WIDTH=3 %target-run %t/a.out bound 2>&1 | %FileCheck %s
// CHECK: Warning: jobs block all 259 threads of SWIFT_POOL, and others wait.
// CHECK-NOT: Warning
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL_WIDTH=40 %target-run %t/a.out bound 2>&1 | %FileCheck %s -check-prefix=WIDE
// WIDE: Warning: jobs block all 360 threads of SWIFT_POOL, and others wait.

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu

// With Dispatch's queues, as many jobs of one priority as there are processors block for ever.
// UNSUPPORTED: without_executor-rescue

// Jobs that block, and wait for one that is not running yet, go on. With Dispatch's queues,
// jobs of each priority have as many threads as there are processors, and they go on only if
// what they wait for has another priority.

import Dispatch
import Glibc
import Synchronization

/// How long `count` jobs take that all wait until one more runs, which is enqueued last.
func block(_ count: Int, _ priority: TaskPriority, last: TaskPriority,
           _ wait: @escaping @Sendable (Flag) -> Void) -> UInt64 {
  let flag = Flag()
  let begun = Counter()
  let ended = DispatchSemaphore(value: 0)
  return time {
    for _ in 0..<count {
      Task.detached(priority: priority) {
        begun.add()
        wait(flag)
        ended.signal()
      }
    }
    Task.detached(priority: last) { flag.set() }
    for _ in 0..<count { ended.wait() }
  }
}

/// Waits in the kernel, and looks now and then.
func sleepUntil(_ flag: Flag) { while !flag.isSet { usleep(500) } }

/// Waits without a pause.
func spinUntil(_ flag: Flag) { while !flag.isSet {} }

/// Waits, and leaves the processor to others.
func yieldUntil(_ flag: Flag) { while !flag.isSet { sched_yield() } }

/// Blocks for good until a semaphore is signalled.
func onSemaphore(_ count: Int, _ priority: TaskPriority, last: TaskPriority) -> UInt64 {
  let begin = DispatchSemaphore(value: 0)
  let ended = DispatchSemaphore(value: 0)
  return time {
    for _ in 0..<count {
      Task.detached(priority: priority) {
        begin.wait()
        ended.signal()
      }
    }
    Task.detached(priority: last) { for _ in 0..<count { begin.signal() } }
    for _ in 0..<count { ended.wait() }
  }
}

/// A job that makes one and blocks until that one has run, `count` times.
func blockOnChild(_ count: Int) -> [UInt64] {
  let times = Mutex<[UInt64]>([])
  let end = DispatchSemaphore(value: 0)
  Task.detached {
    for _ in 0..<count {
      let ran = DispatchSemaphore(value: 0)
      let start = nowInNanoseconds()
      Task.detached { ran.signal() }
      ran.wait()
      times.withLock { $0.append(nowInNanoseconds() - start) }
    }
    end.signal()
  }
  end.wait()
  return times.withLock { $0 }
}

/// `count` jobs that each block until a child of theirs has run, as a synchronous function does
/// that calls an asynchronous one.
func bridge(_ count: Int) -> UInt64 {
  let group = DispatchGroup()
  return time {
    for _ in 0..<count {
      group.enter()
      Task.detached {
        let ran = DispatchSemaphore(value: 0)
        Task.detached { ran.signal() }
        ran.wait()
        group.leave()
      }
    }
    group.wait()
  }
}

/// Has so many jobs block until another thread ends that.
func blockForSeconds(_ seconds: UInt32, jobs: Int) {
  let end = DispatchSemaphore(value: 0), ended = DispatchSemaphore(value: 0)
  for _ in 0..<jobs {
    Task.detached {
      end.wait()
      ended.signal()
    }
  }
  sleep(seconds)
  for _ in 0..<jobs { end.signal() }
  for _ in 0..<jobs { ended.wait() }
}

@main struct Main {
  static func main() {
    Row.run([
      // One processor's worth, two and four times as many. 50 ms are promised.
      Row(name: "same priority", seconds: 120) {
        for factor in [1, 2, 4] {
          let times = (0..<3).map { _ in onSemaphore(factor * processors, .medium, last: .medium) }
          judge("\(factor)N block", times, median: 50, worst: 20_000)
        }
        let times = (0..<3).map { _ in block(2 * processors, .medium, last: .medium, sleepUntil) }
        judge("2N sleep", times, median: 50, worst: 20_000)
      },
      Row(name: "other priority") {
        for (priority, last) in [(TaskPriority.medium, TaskPriority.high), (.medium, .background),
                                 (.high, .background), (.background, .high)] {
          for factor in [1, 2, 4] {
            let times = (0..<5).map { _ in
              onSemaphore(factor * processors, priority, last: last)
            }
            judge("\(factor)N at \(priority) block, then \(last)", times, median: 500,
                  worst: 20_000)
          }
        }
      },
      // The others do not block: they use all processors until one of another priority has run.
      Row(name: "spin") {
        for (priority, last) in [(TaskPriority.medium, TaskPriority.high), (.high, .medium),
                                 (.high, .background)] {
          for (name, wait) in [("spin", spinUntil), ("yield the processor", yieldUntil)] {
            let times = (0..<3).map { _ in block(processors, priority, last: last, wait) }
            judge("N at \(priority) \(name), then \(last)", times, median: 1000, worst: 20_000)
          }
        }
      },
      // Jobs that compute for 2 s do not keep a high one waiting that long.
      Row(name: "long jobs") {
        let ran = Counter()
        for _ in 0..<processors {
          Task.detached(priority: .medium) {
            compute(2_000_000_000)
            ran.add()
          }
        }
        usleep(50_000)
        judge("high beside jobs of 2 s", waits(.high, 5), median: 300, worst: 1500)
        wait(for: "the long jobs") { ran.count == processors }
      },
      Row(name: "child") {
        judge("a job blocks on the one it made", blockOnChild(1000), median: 1, worst: 5000)
      },
      // Many more of them than there may be threads.
      Row(name: "bridges", seconds: 120) {
        let times = [300, 1000, 10_000].map { bridge($0) }
        judge("300 to 10,000 jobs block on their children", times, median: 5000, worst: 50_000)
        let inside = Mutex<UInt64>(0)
        runBlocking { inside.withLock { $0 = bridge(2000) } }
        judge("2,000 do in a job", [inside.withLock { $0 }], median: 10_000, worst: 50_000)
      },
      // Urgent jobs that give way all the time have threads of their own while default ones spin.
      // Others get some, too: those of a class begin new jobs, and are not counted as stuck or not.
      Row(name: "beside a class") {
        for (urgent, other) in [(TaskPriority.high, TaskPriority.utility), (.high, .background), (.medium, .high)] {
          let stop = Flag(), ended = Counter()
          for _ in 0..<width {
            Task.detached(priority: urgent == .high ? .medium : .background) {
              spinUntil(stop)
              ended.add()
            }
            Task.detached(priority: urgent) {
              while !stop.isSet {
                compute(50_000)
                await Task.yield()
              }
              ended.add()
            }
          }
          usleep(50_000)
          judge("\(other) beside \(urgent)", waits(other, 9), median: 50, worst: 1000)
          stop.set()
          wait(for: "\(2 * width) jobs") { ended.count == 2 * width }
        }
      },
      // Urgent jobs that block again and again, each time too short to be seen, leave the processors
      // to default ones.
      Row(name: "short blocks") {
        let stop = Flag(), ended = Counter(), ran = Counter()
        for _ in 0..<4 * width {
          Task.detached(priority: .high) {
            while !stop.isSet {
              usleep(200)
              await Task.yield()
            }
            ended.add()
          }
          Task.detached {
            while !stop.isSet {
              compute(1_000_000)
              ran.add()
              await Task.yield()
            }
            ended.add()
          }
        }
        usleep(1_000_000)
        stop.set()
        wait(for: "\(8 * width) jobs") { ended.count == 8 * width }
        let most = 1000 * min(width, processors)
        print("\(ran.count) of \(most) ms of default jobs")
        // A third. Without a thread for them it is less than a fourth, and the less where other programs run.
        expectMostly((room > 1 ? 5 : 3) * ran.count >= most, "\(ran.count) ms of \(most) were computed")
      },
      // A job feeds work in batches, and blocks in between with more than it needs to go on: other jobs have their
      // turn nevertheless.
      Row(name: "a feeder", seconds: 60) {
        let left = Counter(), low = DispatchSemaphore(value: 0), stop = Flag(), fed = Flag()
        let late = Mutex<[UInt64]>([])
        Task.detached {
          let end = nowInNanoseconds() + 3_000_000_000
          while nowInNanoseconds() < end {
            left.add(40)
            for _ in 0..<40 {
              Task.detached {
                compute(1_000_000)
                if left.add(-1) == 8 { low.signal() }
              }
            }
            waitFor(low)
          }
          fed.set()
        }
        Task.detached {
          while !stop.isSet {
            let start = nowInNanoseconds()
            try? await Task.sleep(nanoseconds: 5_000_000)
            late.withLock { $0.append(nowInNanoseconds() - start) }
          }
        }
        wait(for: "the end of the feeder") { fed.isSet }
        stop.set()
        judge("a sleep of 5 ms beside a feeder", late.withLock { $0 }, median: 60, worst: 1000)
      },
      // Where all workers are blocked for good, a job that comes later is soon run.
      Row(name: "for good") {
        let end = DispatchSemaphore(value: 0), ended = DispatchSemaphore(value: 0)
        for _ in 0..<width {
          Task.detached {
            end.wait()
            ended.signal()
          }
        }
        _ = waits(nil, 20, pause: 5000)
        judge("later ones", waits(nil, 100, pause: 5000), median: 0.4, worst: 1000)
        for _ in 0..<width { end.signal() }
        for _ in 0..<width { ended.wait() }
      },
      // No more threads may be added, and one of those that are there computes: others run an urgent job.
      Row(name: "one that computes", seconds: 60) {
        guard width > 1 else { return }
        let stop = Flag(), gate = DispatchSemaphore(value: 0), ended = DispatchGroup(), begun = Counter()
        ended.enter()
        Task.detached {
          while !stop.isSet {}
          ended.leave()
        }
        let count = 300 + 9 * width
        for _ in 0..<count {
          ended.enter()
          Task.detached {
            begun.add()
            gate.wait()
            ended.leave()
          }
        }
        wait(for: "blocked threads") { begun.count >= 255 + width }
        let ran = DispatchSemaphore(value: 0)
        Task.detached(priority: .high) { ran.signal() }
        expect(ran.wait(timeout: .now() + 10) == .success, "an urgent job waits for one that computes")
        stop.set()
        for _ in 0..<count { gate.signal() }
        ended.wait()
      },
      // All workers but one are in long jobs. Urgent jobs, however short, get more threads than that one.
      Row(name: "urgent ones beside long jobs") {
        guard width > 2 else { return }
        let stop = Flag(), ended = DispatchGroup(), now = Mutex((running: 0, most: 0))
        for _ in 0..<width - 1 {
          ended.enter()
          Task.detached {
            yieldUntil(stop)
            ended.leave()
          }
        }
        usleep(20_000)
        runBlocking(.high) {
          await withTaskGroup(of: Void.self) { children in
            for _ in 0..<2000 {
              children.addTask {
                now.withLock {
                  $0.running += 1
                  $0.most = max($0.most, $0.running)
                }
                compute(100_000)
                now.withLock { $0.running -= 1 }
              }
            }
          }
        }
        stop.set()
        ended.wait()
        let most = now.withLock { $0.most }
        expectMostly(most > 2, "\(most) urgent jobs at a time")
      },
      // More block than there may be threads: that is told, and a thread can end it.
      Row(name: "bound", seconds: 120) {
        blockForSeconds(5, jobs: 400)
      },
      // Nobody reads that: to write it would end the process.
      Row(name: "bound, unread", seconds: 120) {
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        let errors = dup(STDERR_FILENO)
        dup2(ends[1], STDERR_FILENO)
        for end in ends { close(end) }
        blockForSeconds(2, jobs: 400)
        dup2(errors, STDERR_FILENO)
      },
      // In chains: each blocks on the next, 3N deep.
      Row(name: "chain", seconds: 120) {
        @Sendable func descend(_ depth: Int) {
          if depth == 0 { return }
          let ran = DispatchSemaphore(value: 0)
          Task.detached {
            descend(depth - 1)
            ran.signal()
          }
          ran.wait()
        }
        let times = (0..<3).map { _ in time { descend(3 * processors) } }
        judge("a chain of 3N blocked jobs", times, median: 1000, worst: 30_000)
      },
      // Those that wait come from the executor's own threads, and so does the one they wait for.
      Row(name: "inside", seconds: 120) {
        let times = Mutex<[UInt64]>([])
        for _ in 0..<3 {
          runBlocking {
            let start = nowInNanoseconds()
            await withTaskGroup(of: Void.self) { group in
              let begin = DispatchSemaphore(value: 0)
              for _ in 0..<2 * processors { group.addTask { begin.wait() } }
              group.addTask { for _ in 0..<2 * processors { begin.signal() } }
            }
            times.withLock { $0.append(nowInNanoseconds() - start) }
          }
        }
        judge("2N children block", times.withLock { $0 }, median: 1000, worst: 20_000)
      },
      // Many children, as their parent's threads block, too; the last one has any priority.
      Row(name: "children", seconds: 120) {
        runBlocking {
          for count in [1, 8, 32, 128] {
            for priority in [TaskPriority.high, .medium, .background] {
              let begin = DispatchSemaphore(value: 0)
              await withTaskGroup(of: Void.self) { group in
                for _ in 0..<count { group.addTask(priority: .medium) { begin.wait() } }
                group.addTask(priority: priority) { for _ in 0..<count { begin.signal() } }
              }
            }
          }
        }
      },
      // The one that they wait for suspends a thousand times.
      Row(name: "beside") {
        runBlocking {
          let begin = DispatchSemaphore(value: 0)
          await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { begin.wait() } }
            group.addTask {
              for _ in 0..<1000 { await Task.yield() }
              for _ in 0..<20 { begin.signal() }
            }
          }
        }
      },
      // No file can be opened that says which threads sleep. They compute before they do.
      Row(name: "no files", seconds: 120) {
        runBlocking {}
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(7 /* RLIMIT_NOFILE */), &limit)
        let old = limit
        limit.rlim_cur = 0
        setrlimit(__rlimit_resource_t(7), &limit)
        let times = (0..<10).map { round in
          let begin = DispatchSemaphore(value: 0), ended = DispatchSemaphore(value: 0)
          return time {
            for _ in 0..<processors {
              Task.detached {
                compute(10_000_000 + UInt64(round) * 300_000)
                begin.wait()
                ended.signal()
              }
            }
            Task.detached { for _ in 0..<processors { begin.signal() } }
            for _ in 0..<processors { ended.wait() }
          }
        }
        limit = old
        setrlimit(__rlimit_resource_t(7), &limit)
        judge("N block without files", times, median: 1000, worst: 20_000)
      },
      // When all of it is over, the threads that stood in are gone.
      Row(name: "afterwards") {
        let before = Int(threadCount())
        for _ in 0..<20 { _ = block(3 * width, .medium, last: .medium, sleepUntil) }
        var count = 0
        for _ in 0..<200 {
          count = Int(threadCount())
          if count <= before + width + 2 { break }
          usleep(50_000)
        }
        expect(count <= before + width + 2, "\(count) threads are left after 10 s, of a width of \(width)")
      },
    ])
  }
}
