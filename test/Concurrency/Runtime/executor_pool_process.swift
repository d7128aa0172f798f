// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=9 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out exec exit

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
// The threads of Dispatch's queues are not in the child of a fork.
// XFAIL: without_executor-fork

// A process with tasks forks, starts another program, and ends in each of the ways there are.

import Dispatch
import Glibc
import Synchronization

/// How many jobs of a parent have run in this process.
let strangers = Counter()

/// Keeps all threads of the executor busy, in each of the ways there are.
func makeBusy(_ stop: Flag) {
  let parent = getpid()
  for number in 0..<4 * processors {
    Task.detached(priority: [.high, .medium, .background][number % 3]) {
      while !stop.isSet {
        if getpid() != parent { strangers.add() }
        await Task.yield()
        await Task.detached {}.value
        if number % 8 == 5 { usleep(100) }
      }
    }
  }
  for _ in 0..<2 {
    pthread_detach(startThread {
      while !stop.isSet {
        runBlocking {}
        usleep(50)
      }
    })
  }
}

/// The status of a child that runs `body`; it has half a minute.
func status(_ body: () -> Int32) -> Int {
  let child = forkProcess()
  if child == 0 {
    watch("a child", 30)
    exit(body())
  }
  return Int(waitForChild(child))
}

/// What a child can do with tasks.
func add() async -> Int {
  let sum = await withTaskGroup(of: Int.self) { group in
    for number in 1...100 {
      group.addTask {
        await Task.yield()
        return number
      }
    }
    return await group.reduce(0, +)
  }
  let one = Task.detached(priority: .background) { 1 }
  let two = Task.detached(priority: .high) { 2 }
  return await sum + one.value + two.value
}

/// The status of a child that has done that.
func exitStatus(_ sum: Int) -> Int32 { sum != 5053 ? 6 : strangers.count > 0 ? 7 : 5 }

/// By the thread that has forked.
func useTasks() -> Int32 {
  let sum = Counter()
  runBlocking { sum.add(await add()) }
  return exitStatus(sum.count)
}

/// A child hangs if it needs what another thread of its parent was initializing for the first
/// time when it was forked, with or without the executor: it waits for a lock of the runtime (of
/// metadata, of conformances) whose owner is not there. So all that is done once is done before.
func initialize() {
  expect(useTasks() == 5, "this process cannot use tasks")
  // The tasks' last references go after they have ended.
  usleep(100_000)
}

@main struct Main {
  static func main() {
    Row.run([
      // Nothing has been enqueued yet.
      Row(name: "fork first") {
        expect(status(useTasks) == 5, "a child cannot use tasks")
        runBlocking {}
        expect(status(useTasks) == 5, "a child of a process that has used tasks cannot")
      },
      Row(name: "fork idle") {
        initialize()
        for _ in 0..<50 {
          runBlocking {}
          let result = status(useTasks)
          expect(result == 5, "a child of an idle process: status \(result)")
        }
      },
      Row(name: "fork busy", seconds: 120) {
        initialize()
        let stop = Flag()
        makeBusy(stop)
        for _ in 0..<100 {
          let result = status(useTasks)
          expect(result == 5, "a child of a busy process: status \(result)")
        }
        // The parent goes on.
        judge("after forks", waits(nil, 20), median: 250, worst: 10_000)
        stop.set()
      },
      // A child of a child, and again.
      Row(name: "fork deep") {
        initialize()
        func descend(_ depth: Int) -> Int32 {
          if useTasks() != 5 { return 20 + Int32(depth) }
          return depth == 0 ? 5 : Int32(status { descend(depth - 1) })
        }
        expect(status { descend(5) } == 5, "a child of children cannot use tasks")
      },
      // By a job: this thread is the executor's own, and the child has no other one.
      Row(name: "fork in a job") {
        initialize()
        let stop = Flag()
        makeBusy(stop)
        for _ in 0..<50 {
          runBlocking {
            let result = Mutex(0)
            let child = forkProcess()
            if child == 0 {
              watch("a child of a job", 30)
              // The job goes on in the child, and comes back after others.
              await Task.yield()
              await withUnsafeContinuation { own in
                pthread_detach(startThread { own.resume() })
              }
              exit(exitStatus(await add()))
            }
            result.withLock { $0 = Int(waitForChild(child)) }
            let status = result.withLock { $0 }
            expect(status == 5, "a child that a job has forked: status \(status)")
          }
        }
        stop.set()
      },
      // What waits in the parent runs there, once, and in no child.
      Row(name: "once") {
        initialize()
        let count = 2000
        let ran = sharedNumbers(Int32(count))!
        let begun = Counter()
        for number in 0..<count {
          Task.detached(priority: number % 2 == 0 ? .high : .background) {
            compute(5000)
            addToShared(ran + number, 1)
            begun.add()
          }
          if number % 100 == 99 {
            let result = status {
              // The child's own threads find none of the parent's jobs.
              _ = useTasks()
              usleep(20_000)
              return 5
            }
            expect(result == 5, "a child: status \(result)")
          }
        }
        wait(for: "all jobs of the parent") { begun.count == count }
        for number in 0..<count where ran[number] != 1 {
          fail("job \(number) has run \(ran[number]) times")
        }
      },
      Row(name: "exec") {
        let stop = Flag()
        makeBusy(stop)
        for word in ["true", "false"] {
          let path = strdup(word)
          var words: [UnsafePointer<CChar>?] = [UnsafePointer(path), nil]
          for _ in 0..<20 {
            let result = runProcess(&words)
            expect(result == (word == "true" ? 0 : 1), "\(word) gave \(result)")
          }
          // By a job.
          let inJob = Counter()
          runBlocking {
            var words: [UnsafePointer<CChar>?] = [UnsafePointer(path), nil]
            inJob.add(Int(runProcess(&words)))
          }
          expect(inJob.count == (word == "true" ? 0 : 1), "\(word) of a job gave \(inJob.count)")
        }
        stop.set()
      },
      // In children, of which this process has used no executor before.
      Row(name: "exit", seconds: 120) {
        for round in 0..<20 {
          let result = statusOfProgram("exit-\(round % 4)")
          expect(result == 40 + round % 4, "ended with \(result), not \(40 + round % 4)")
        }
      },
      // How the others end.
      Row(name: "exit-0") { if isNamed("exit-0") { endBusy { exit(40) } } },
      Row(name: "exit-1") { if isNamed("exit-1") { endBusy { exitQuickly(41) } } },
      Row(name: "exit-2") {
        // By a job.
        if isNamed("exit-2") {
          endBusy {
            Task.detached { exit(42) }
            while true { sleep(1) }
          }
        }
      },
      Row(name: "exit-3") {
        if isNamed("exit-3") { endBusy { _exit(43) } }
      },
    ])
  }

  static func isNamed(_ row: String) -> Bool { CommandLine.arguments.dropFirst().first == row }

  static func endBusy(_ end: () -> Void) {
    let stop = Flag()
    makeBusy(stop)
    judge("before the end", waits(nil, 3), median: 5000, worst: 20_000)
    end()
  }

  static func statusOfProgram(_ row: String) -> Int {
    let words: [UnsafePointer<CChar>?] = [
      UnsafePointer(strdup(CommandLine.arguments[0])), UnsafePointer(strdup(row)), nil,
    ]
    return Int(runProcess(words))
  }
}
