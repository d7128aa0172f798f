// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL_WIDTH=2 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL_WIDTH=4 %target-run %t/a.out -turns
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out -turns

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu
// The rows of turns and of the block. They measure times of one machine, which may be too busy.
// UNSUPPORTED: without_executor-sharing

// Few awake workers share what they enqueue: a job does not wait for a long one while another
// worker runs a task again and again that gives way.

import Dispatch
import Glibc
import Synchronization

/// A job resumes a task and goes on for long, beside a task that gives way. How often that one has its
/// turn until the resumed task begins.
func turns() {
  let turn = Counter(), stop = Flag(), ended = Counter()
  Task.detached {
    while !stop.isSet {
      turn.add()
      await Task.yield()
    }
    ended.add()
  }
  let counts = Mutex<[Int]>([])
  runBlocking {
    for _ in 0..<40 {
      let atResume = Counter()
      let (stream, continuation) = AsyncStream<Void>.makeStream()
      let waits = Flag()
      let waiter = Task.detached {
        var elements = stream.makeAsyncIterator()
        waits.set()
        _ = await elements.next()
        counts.withLock { $0.append(turn.count - atResume.count) }
      }
      while !waits.isSet { await Task.yield() }
      // It has suspended by then.
      compute(200_000)
      atResume.add(turn.count)
      continuation.yield()
      compute(20_000_000)
      _ = await waiter.value
    }
  }
  stop.set()
  wait(for: "the task that gives way") { ended.count == 1 }
  let sorted = counts.withLock { $0.sorted() }
  print("turns until a resumed task begins: \(sorted)")
  // Else about 5,000: those of a millisecond, after which the watcher looks.
  expect(sorted[sorted.count / 2] < 1000, "the median is \(sorted[sorted.count / 2]) turns")
}

/// While workers share, a job resumes many tasks, and then enqueues a block, which does not wait for
/// them.
func block() {
  let waits = (0..<9).map { _ in
    let continuations = Mutex<[CheckedContinuation<Void, Never>]>([])
    let ended = Counter(), begun = Mutex<UInt64?>(nil)
    for _ in 0..<4000 {
      Task.detached {
        await withCheckedContinuation { continuation in continuations.withLock { $0.append(continuation) } }
        compute(5_000)
        ended.add()
      }
    }
    wait(for: "the tasks that wait") { continuations.withLock { $0.count } == 4000 }
    for number in 0..<4 {
      Task.detached {
        for turn in 0..<300 {
          compute(20_000)
          if number == 0 && turn == 150 {
            for continuation in continuations.withLock({ $0 }) { continuation.resume() }
            let since = nowInNanoseconds()
            DispatchQueue.global().async { begun.withLock { $0 = nowInNanoseconds() - since } }
          }
          await Task.yield()
        }
        ended.add()
      }
    }
    wait(for: "the tasks, and the block") { ended.count == 4004 && begun.withLock { $0 } != nil }
    return begun.withLock { $0! }
  }
  // Else about 13 ms: behind all the tasks.
  judge("a block behind 4,000 tasks", waits, median: 0.5, worst: 1000)
}

/// Elements go through several tasks, while what makes them gives way: all arrive, in order, whatever
/// each takes and however many such chains there are.
func pipelines() {
  for (chains, stages, nanoseconds) in [(1, 4, 0), (1, 9, 200), (3, 3, 2000), (16, 4, 0)] {
    let ended = Counter()
    for _ in 0..<chains {
      Task.detached {
        var (stream, continuation) = AsyncStream<Int>.makeStream()
        let first = continuation
        Task {
          for element in 0..<2000 {
            first.yield(element)
            if element % 64 == 63 { await Task.yield() }
          }
          first.finish()
        }
        for _ in 1..<stages {
          let input = stream
          (stream, continuation) = AsyncStream<Int>.makeStream()
          let output = continuation
          Task {
            for await element in input {
              if nanoseconds > 0 { compute(UInt64(nanoseconds)) }
              output.yield(element)
            }
            output.finish()
          }
        }
        var next = 0
        for await element in stream {
          expect(element == next, "element \(element) came instead of \(next)")
          next += 1
        }
        expect(next == 2000, "\(next) elements came")
        ended.add()
      }
    }
    wait(for: "\(chains) chains of \(stages) stages") { ended.count == chains }
  }
}

@main struct Main {
  static func main() {
    Row.run([
      Row(name: "turns") { turns() }, Row(name: "block") { block() }, Row(name: "pipelines") { pipelines() },
    ])
  }
}
