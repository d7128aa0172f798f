// RUN: %empty-directory(%t)
// RUN: %target-build-swift -parse-as-library %s %S/Inputs/LivenessList.swift -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=60000 %env-SWIFT_LIVENESS_SIGNAL=USR2 %target-run %t/a.out > %t/log 2>&1
// RUN: grep -e "live tasks" -e "^step" %t/log > %t/steps
// RUN: %FileCheck %s < %t/steps
// A task that has ended since it was found is not listed.
// RUN: not grep -e ': *task 0,' -e 'last run [0-9]\{7,\} ms ago' %t/log

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// The signal ends a process without the monitor.
// XFAIL: without_executor-liveness-marks

// The list has each task once, whoever made it and whoever ended it: many tasks of one
// thread that others end, and many threads with tasks of their own that are listed meanwhile.

import Glibc

/// Keeps what it gets for `run`, or runs it on the thread that it gets it from.
final class Executor: TaskExecutor, @unchecked Sendable {
  var runsAtOnce = false
  private var jobs: [UnownedJob] = []

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if runsAtOnce {
      job.runSynchronously(on: asUnownedTaskExecutor())
    } else {
      jobs.append(job)
    }
  }

  func run() {
    while !jobs.isEmpty {
      let next = jobs
      jobs = []
      for job in next { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }
}

final class Waiting: @unchecked Sendable {
  var continuations: [UnsafeContinuation<Void, Never>] = []
}

@Sendable func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  final class Start {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
  }
  var threads: [pthread_t] = []
  for number in 0..<count {
    var thread = pthread_t()
    let start = Unmanaged.passRetained(Start { body(number) })
    let failed = pthread_create(
      &thread, nil,
      {
        Unmanaged<Start>.fromOpaque($0!).takeRetainedValue().body()
        return nil
      }, start.toOpaque())
    precondition(failed == 0)
    threads.append(thread)
  }
  for thread in threads { pthread_join(thread, nil) }
}

/// Tasks of this thread, which begin and end here, some while others wait.
@Sendable func work(_ rounds: Int) {
  let executor = Executor()
  for round in 0..<rounds {
    for _ in 0..<(1 + round % 100) {
      Task(executorPreference: executor) {
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<5 { group.addTask { await Task.yield() } }
        }
      }
    }
    executor.run()
  }
}

@main struct Main {
  static func main() {
    setvbuf(stdout, nil, _IOLBF, 0)
    let count = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1])! : 20000
    // CHECK: step made by one thread
    // CHECK-NEXT: {{Z}} 20000 live tasks
    // CHECK-NEXT: step ended by 8 threads
    // CHECK-NEXT: {{Z}} 0 live tasks
    // CHECK-NEXT: step made by one thread
    // CHECK-NEXT: {{Z}} 20000 live tasks
    // CHECK-NEXT: step ended by 8 threads
    // CHECK-NEXT: {{Z}} 0 live tasks
    for _ in 0..<2 {
      let executor = Executor(), waiting = Waiting()
      for _ in 0..<count {
        Task(executorPreference: executor) {
          await withUnsafeContinuation { waiting.continuations.append($0) }
        }
      }
      executor.run()
      print("step made by one thread")
      listTasks()
      executor.runsAtOnce = true
      onThreads(8) { number in
        for i in stride(from: number, to: count, by: 8) { waiting.continuations[i].resume() }
      }
      print("step ended by 8 threads")
      listTasks()
    }

    // CHECK: step 64 threads
    // CHECK: step done
    // CHECK-NEXT: {{Z}} 0 live tasks
    print("step 64 threads")
    onThreads(65) { number in
      if number != 0 { return work(count / 200) }
      for _ in 0..<200 {
        kill(getpid(), SIGUSR2)
        usleep(3000)
      }
    }
    // What has been asked for comes before.
    listTasks()
    print("step done")
    listTasks()
  }
}
