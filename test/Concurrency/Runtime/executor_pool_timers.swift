// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// ThreadSanitizer knows no threads in the child of a process with several, and 2,000 sleepers that
// wake at once take it longer than the limit, and chaos, too. Chaos also makes threads wait more often than the two rows
// allow that count this.
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out %if tsan %{-fork -many%} %if runtime_chaos %{-many "-one wake" "-give way"%}
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out %if tsan %{-fork -many%} %if runtime_chaos %{-many "-one wake" "-give way"%}
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL_WIDTH=7 %target-run %t/a.out %if tsan %{-fork -many%} %if runtime_chaos %{-many "-one wake" "-give way"%}
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out "give way"

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu
// XFAIL: without_executor-timers

// Tasks that sleep are woken by a worker that sleeps until then, whatever the others do.

import Dispatch
import Glibc
import Synchronization

func pause(_ milliseconds: Int) async {
  try? await Task.sleep(for: .milliseconds(milliseconds))
}

/// How much later than `milliseconds` after `start` it is, in nanoseconds.
func lateness(_ start: UInt64, _ milliseconds: Int) -> UInt64 {
  let taken = nowInNanoseconds() - start, asked = UInt64(milliseconds) * 1_000_000
  expect(taken >= asked, "a sleep of \(milliseconds) ms took \(taken) ns")
  return taken - min(taken, asked)
}

/// How late a sleep ends that a job has begun which then runs `body`.
func sleepBeside(_ milliseconds: Int, _ body: @escaping @Sendable (Flag) -> Void) -> UInt64 {
  let late = Mutex<UInt64>(0)
  let woken = Flag()
  let ended = DispatchSemaphore(value: 0)
  Task.detached {
    Task.immediate {
      let start = nowInNanoseconds()
      await pause(milliseconds)
      late.withLock { $0 = lateness(start, milliseconds) }
      woken.set()
      ended.signal()
    }
    body(woken)
    ended.signal()
  }
  for _ in 0..<2 { ended.wait() }
  return late.withLock { $0 }
}

/// Runs jobs in the thread that enqueues the first one.
final class Drain: TaskExecutor {
  let jobs = Mutex<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isFirst = jobs.withLock {
      $0.append(job)
      return $0.count == 1
    }
    guard isFirst else { return }
    while let next = jobs.withLock({ $0.first }) {
      next.runSynchronously(on: asUnownedTaskExecutor())
      jobs.withLock { _ = $0.removeFirst() }
    }
  }

  /// Has jobs for as long.
  func fill(_ milliseconds: Int) {
    Task.detached(executorPreference: self) {
      compute(1_000_000)
      if milliseconds > 1 { self.fill(milliseconds - 1) }
    }
  }
}

@main struct Main {
  static func main() {
    Row.run([
      // Nobody but the worker that runs the task wakes up.
      Row(name: "one wake") {
        for milliseconds in [1, 5] {
          let count = 200
          let late = Mutex<[UInt64]>([])
          runBlocking { await pause(milliseconds) }
          let before = waitsInKernel()
          runBlocking {
            for _ in 0..<count {
              let start = nowInNanoseconds()
              await pause(milliseconds)
              late.withLock { $0.append(lateness(start, milliseconds)) }
            }
          }
          let each = Double(waitsInKernel() - before) / Double(count)
          print("\(each) waits for each sleep of \(milliseconds) ms")
          expect(each < 1.75, "threads wait \(each) times for each sleep of \(milliseconds) ms")
          judge("late after \(milliseconds) ms", late.withLock { $0 }, median: 1, worst: 1000)
        }
      },
      // The job goes on after it has put another task to sleep.
      Row(name: "beside the sleeper's job") {
        let computing = (0..<5).map { _ in sleepBeside(20) { _ in compute(100_000_000) } }
        if width != 1 {
          judge("late beside a job of 100 ms", computing, median: 20, worst: 60)
          // With the fault each of them waits until the job ends.
          expectMostly(computing.min()! < 75_000_000, "all wait for a job of 100 ms")
        }
        let blocked = (0..<5).map { _ in
          sleepBeside(20) { woken in while !woken.isSet { usleep(1000) } }
        }
        judge("late beside a job that waits for it", blocked, median: 60, worst: 5000)
      },
      // An executor of the program runs the sleeper inside the job of a worker, and then goes on.
      Row(name: "in an executor") {
        let late = Mutex<[UInt64]>([]), drain = Drain()
        for _ in 0..<3 {
          runBlocking {
            await withTaskExecutorPreference(drain) {
              drain.fill(300)
              let start = nowInNanoseconds()
              await pause(10)
              late.withLock { $0.append(lateness(start, 10)) }
            }
          }
          wait(for: "the executor") { drain.jobs.withLock { $0.isEmpty } }
        }
        if width != 1 {
          judge("late in an executor", late.withLock { $0 }, median: 20, worst: 1000)
        }
      },
      // All workers are in jobs, and none sleeps.
      Row(name: "beside busy jobs") {
        let stop = Flag()
        for _ in 0..<4 * processors {
          Task.detached { while !stop.isSet { compute(20_000); await Task.yield() } }
        }
        let late = Mutex<[UInt64]>([])
        runBlocking(.high) {
          for _ in 0..<50 {
            let start = nowInNanoseconds()
            await pause(2)
            late.withLock { $0.append(lateness(start, 2)) }
          }
        }
        stop.set()
        judge("late beside busy jobs", late.withLock { $0 }, median: 8, worst: 1000)
      },
      // The one that keeps the time is woken for jobs.
      Row(name: "beside jobs of other threads") {
        let stop = Flag()
        let thread = startThread {
          while !stop.isSet { Task.detached { compute(30_000) }; usleep(300) }
        }
        let late = Mutex<[UInt64]>([])
        let ended = DispatchSemaphore(value: 0)
        for milliseconds in [3, 7, 50] {
          Task.detached {
            for _ in 0..<(200 / milliseconds) {
              let start = nowInNanoseconds()
              await pause(milliseconds)
              late.withLock { $0.append(lateness(start, milliseconds)) }
            }
            ended.signal()
          }
        }
        for _ in 0..<3 { ended.wait() }
        stop.set()
        pthread_join(thread, nil)
        judge("late beside jobs of a thread", late.withLock { $0 }, median: 5, worst: 1000)
      },
      // Of many, those that end first are resumed first; Dispatch wakes those of over a second.
      Row(name: "many") {
        let late = Mutex<[UInt64]>([])
        runBlocking {
          await withTaskGroup(of: Void.self) { group in
            for number in 0..<2000 {
              let milliseconds = number % 500 == 0 ? 1200 : 1 + number * 7 % 300
              group.addTask(priority: number % 3 == 0 ? .background : .high) {
                let start = nowInNanoseconds()
                await pause(milliseconds)
                late.withLock { $0.append(lateness(start, milliseconds)) }
              }
            }
          }
        }
        judge("late among 2,000", late.withLock { $0 }, median: 10, worst: 1000)
      },
      // So many end at one time that to resume them takes long: a more urgent job goes before. They sleep less
      // than a second, as longer sleeps are Dispatch's.
      Row(name: "one deadline", seconds: 120) {
        for count in [20_000, 10_000, 5_000, 2_000] {
          let begun = Counter(), ended = Counter()
          let deadline = ContinuousClock.now.advanced(by: .milliseconds(900))
          for _ in 0..<count {
            Task.detached {
              begun.add()
              try? await Task.sleep(until: deadline, clock: .continuous)
              ended.add()
            }
          }
          wait(for: "the sleepers") { begun.count == count }
          let areInTime = ContinuousClock.now < deadline
          if areInTime {
            wait(for: "the deadline") { ContinuousClock.now > deadline }
            judge("high beside \(count) sleepers", waits(.high, 40, pause: 200), median: 2, worst: 1000)
          }
          wait(for: "their end") { ended.count == count }
          if areInTime { return }
        }
        fail("2,000 tasks do not begin to sleep within 0.9 s")
      },
      // A job's thread has the timer slack of others, which what it spawns inherits.
      Row(name: "slack") {
        let own = timerSlack(), seen = Mutex<[Int32]>([])
        runBlocking {
          for _ in 0..<20 {
            await pause(2)
            seen.withLock { $0.append(timerSlack()) }
          }
        }
        let all = seen.withLock { $0 }
        expect(all.allSatisfy { $0 == own }, "the timer slack is \(all), not \(own)")
      },
      // A thread that is not the executor's sets the timer to an earlier time.
      Row(name: "earlier") {
        let late = Mutex<[UInt64]>([])
        for _ in 0..<20 {
          Task.detached { await pause(400) }
          usleep(5000)
          inThreads(1) { _ in
            let ended = DispatchSemaphore(value: 0)
            Task.immediate {
              let start = nowInNanoseconds()
              await pause(3)
              late.withLock { $0.append(lateness(start, 3)) }
              ended.signal()
            }
            ended.wait()
          }
        }
        judge("late before a later one", late.withLock { $0 }, median: 2, worst: 1000)
      },
      // Tasks that give way while another sleeps do not wake anybody for its time with each job. (This
      // is seen best on one processor, if the row is run alone.)
      Row(name: "give way") {
        if CommandLine.arguments.count == 2 { useProcessors(1) }
        let stop = Flag(), ended = Counter(), turns = Counter()
        for _ in 0..<4 {
          Task.detached {
            while !stop.isSet {
              turns.add()
              await Task.yield()
            }
            ended.add()
          }
        }
        Task.detached {
          while !stop.isSet { await pause(3) }
          ended.add()
        }
        usleep(100_000)
        let waited = waitsInKernel(), ran = turns.count
        usleep(1_000_000)
        let count = waitsInKernel() - waited
        stop.set()
        wait(for: "five tasks") { ended.count == 5 }
        print("\(count) waits in the kernel, \(turns.count - ran) turns")
        expect(count < 20_000, "threads waited \(count) times in the kernel within a second")
      },
      // A profiler interrupts all threads more often than the sleep is long.
      Row(name: "signals") {
        signal(SIGPROF) { _ in }
        let late = Mutex<[UInt64]>([])
        let stop = Flag()
        let thread = startThread {
          while !stop.isSet {
            signalThreads(SIGPROF)
            usleep(1000)
          }
        }
        runBlocking {
          for _ in 0..<5 {
            let start = nowInNanoseconds()
            await pause(200)
            late.withLock { $0.append(lateness(start, 200)) }
          }
        }
        stop.set()
        pthread_join(thread, nil)
        judge("late beside signals", late.withLock { $0 }, median: 20, worst: 1000)
      },
      Row(name: "fork") {
        // For sleeps of more than a second Dispatch starts a thread, which the child has not.
        runBlocking {
          await pause(3)
          await pause(1100)
        }
        usleep(100_000)
        Task.detached { await pause(900) }
        for milliseconds in Array(repeating: 3, count: 10) + [1100, 2500] {
          let child = forkProcess()
          if child == 0 {
            watch("a child", 30)
            let start = nowInNanoseconds()
            runBlocking { await pause(milliseconds) }
            // Without a search for leaks: the parent's other tasks are nobody's here.
            let isInTime = lateness(start, milliseconds) < 2_000_000_000
            _exit(isInTime && failures.count == 0 ? 5 : 6)
          }
          let status = waitForChild(child)
          expect(status == 5, "a child that sleeps: status \(status)")
        }
      },
    ])
  }
}
