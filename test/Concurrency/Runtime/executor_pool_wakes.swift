// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=8 %target-run %t/a.out

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu

// No job waits while a thread of the executor sleeps: single jobs come at every moment of
// its way to sleep and back, from one thread and from several, and from a job that goes on
// computing. A job that is forgotten is never run, because nothing comes after it.

import Dispatch
import Glibc
import Synchronization

struct Random {
  var state: UInt64
  mutating func below(_ n: UInt64) -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (state >> 33) % n
  }
}

/// Waits a random time: nothing at all, some microseconds, or so long that the threads sleep.
func pause(_ random: inout Random) {
  switch random.below(8) {
  case 0, 1: break
  case 2, 3, 4: compute(random.below(80) * 1000)
  case 5, 6: compute(random.below(400) * 1000)
  default: usleep(UInt32(random.below(5000)))
  }
}

@main struct Main {
  static func main() {
    Row.run([
      Row(name: "one thread") {
        var random = Random(state: 1)
        var times: [UInt64] = []
        for _ in 0..<4000 {
          pause(&random)
          let ran = DispatchSemaphore(value: 0)
          times.append(time {
            Task.detached { ran.signal() }
            ran.wait()
          })
        }
        judge("a job of a thread", times, median: 20, worst: 5000)
      },
      Row(name: "four threads") {
        let all = Mutex<[UInt64]>([])
        inThreads(4) { number in
          var random = Random(state: UInt64(number) + 2)
          var times: [UInt64] = []
          for _ in 0..<1500 {
            pause(&random)
            let ran = DispatchSemaphore(value: 0)
            times.append(time {
              Task.detached(priority: [.high, .medium, .background][number % 3]) { ran.signal() }
              ran.wait()
            })
          }
          all.withLock { $0 += times }
        }
        judge("a job of four threads", all.withLock { $0 }, median: 50, worst: 5000)
      },
      // A continuation that another thread resumes.
      Row(name: "resume") {
        let times = Mutex<[UInt64]>([])
        runBlocking {
          for number in 0..<300 {
            let start = nowInNanoseconds()
            await withUnsafeContinuation { own in
              pthread_detach(startThread {
                var random = Random(state: UInt64(number))
                pause(&random)
                times.withLock { $0.append(nowInNanoseconds()) }
                own.resume()
              })
            }
            let end = nowInNanoseconds()
            times.withLock { times in times[times.count - 1] = end - max(start, times.last!) }
          }
        }
        judge("a resumed task", times.withLock { $0 }, median: 20, worst: 5000)
      },
      // The job goes on; another thread of the executor takes what it has made. 4 ms are
      // promised. On one processor, or with one thread, there is none.
      Row(name: "behind a computing job") {
        guard min(width, processors) > 1 else { return }
        for burst in [1, 3, 20] {
          let times = Mutex<[UInt64]>([])
          for _ in 0..<30 {
            usleep(2000)
            let ran = Counter()
            runBlocking {
              for _ in 0..<burst {
                let start = nowInNanoseconds()
                Task.detached {
                  let end = nowInNanoseconds()
                  times.withLock { $0.append(end - start) }
                  ran.add()
                }
              }
              compute(60_000_000)
            }
            wait(for: "jobs of a computing job") { ran.count == burst }
          }
          let waited = times.withLock { $0 }
          judge("\(burst) made by a computing job", waited, median: 30, worst: 5000)
          // With the fault each of them waits until the job has computed.
          expectMostly(waited.filter { $0 < 55_000_000 }.count * 2 > waited.count, "most wait for the whole job")
        }
      },
      // As much happens at the same time as there are threads.
      Row(name: "parallel") {
        guard processors > 1, width != 1 else { return }
        var random = Random(state: 9)
        var times: [UInt64] = []
        for _ in 0..<200 {
          pause(&random)
          let begun = Counter()
          let ended = DispatchSemaphore(value: 0)
          times.append(time {
            for _ in 0..<2 {
              Task.detached {
                begun.add()
                // Both are there only if they run on two threads.
                while begun.count < 2 {}
                ended.signal()
              }
            }
            for _ in 0..<2 { ended.wait() }
          })
        }
        judge("two at the same time", times, median: 50, worst: 5000)
      },
      // Afterwards nobody looks for work any more.
      Row(name: "idle") {
        let stop = Flag()
        for _ in 0..<processors { Task.detached { while !stop.isSet { await Task.yield() } } }
        usleep(50_000)
        stop.set()
        usleep(200_000)
        let before = processorTime()
        usleep(1_000_000)
        let used = processorTime() - before
        expect(used < 20_000_000, "an idle process used \(used / 1000) us of processor time in a second")
      },
      // While one job computes, the others do not look all the time, either.
      Row(name: "one computes") {
        runBlocking {
          let before = processorTime(), own = threadTime(), start = nowInNanoseconds()
          while threadTime() - own < 500_000_000 && nowInNanoseconds() - start < 30_000_000_000 {}
          let used = processorTime() - before
          let mine = threadTime() - own
          print("one job computes: \(mine / 1000) of \(used / 1000) us")
          expect(mine * 10 > used * 9, "of \(used / 1000) us one job that computes had \(mine / 1000)")
        }
      },
    ])
  }
}
