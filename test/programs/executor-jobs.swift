// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/../Concurrency/Runtime/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/../Concurrency/Runtime/Inputs/executor-pool-support.h %s %S/Inputs/SplitMix64.swift %S/../Concurrency/Runtime/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/jobs
// RUN: %target-codesign %t/jobs
// RUN: env %env-SWIFT_POOL=0 %target-run %t/jobs --seeds 1:2
// RUN: env %env-SWIFT_POOL=1 %target-run %t/jobs --seeds 1:4 %if !tsan && !asan %{--forks 10%}
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1 %target-run %t/jobs --seeds 11:12 %if !tsan && !asan %{--forks 10%}
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=2 %target-run %t/jobs --seeds 21:22
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=3 %target-run %t/jobs --seeds 31:32 %if !tsan && !asan %{--forks 10%}
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=16 %target-run %t/jobs --seeds 41:42
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=64 %target-run %t/jobs --seeds 51:52 %if !tsan && !asan %{--forks 10%}

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu
// Jobs block, and the child of a fork uses tasks: without the pool and its stand-ins they hang.
// UNSUPPORTED: without_executor-rescue

// Jobs of random kinds, priorities and sources, which compute, sleep and block, while the
// process forks: each of them runs exactly once, in this process, and in time.
//
//   executor-jobs [--seeds FIRST:LAST] [--jobs N] [--forks N]

import Dispatch
import Glibc
import Synchronization

extension SplitMix64 {
  mutating func priority() -> TaskPriority? {
    [nil, .high, .medium, .low, .background, TaskPriority(rawValue: UInt8(below(0x22)))][below(6)]
  }
}

let usesPool = getenv("SWIFT_POOL").map { String(cString: $0) } == "1"

/// What is known of the jobs of one program. The counts are in memory that children share.
final class Jobs: @unchecked Sendable {
  private let ran: UnsafeMutablePointer<Int64>
  private let made: UnsafeMutablePointer<Int64>
  private let finished = Counter()
  private let blocked = Counter()
  let limit: Int
  private let owner = getpid()

  init(_ limit: Int) {
    self.limit = limit
    ran = sharedNumbers(Int32(limit))
    made = sharedNumbers(1)
  }

  /// The number of a new job, or nil if there are enough.
  func new() -> Int? {
    let number = Int(addToShared(made, 1)) - 1
    return number < limit ? number : nil
  }

  func run(_ number: Int) {
    expect(getpid() == owner, "a job of the parent runs in a child")
    addToShared(ran + number, 1)
    finished.add()
  }

  /// Blocks unless many do already. On Dispatch's queues one thread has to be left: as many
  /// blocked jobs of one priority as there are processors wait for ever.
  func block(_ body: () -> Void) {
    if blocked.add() <= (usesPool ? 6 : processors - 1) { body() }
    blocked.add(-1)
  }

  var isComplete: Bool { finished.count >= limit }

  func check() {
    for number in 0..<limit where ran[number] != 1 {
      fail("job \(number) has run \(ran[number]) times")
    }
  }
}

actor Shared {
  var count = 0
  func run(_ random: SplitMix64, _ jobs: Jobs) {
    var random = random
    count += 1
    work(&random, jobs)
  }
}

let shared = (0..<3).map { _ in Shared() }

final class OnActor: Sendable {
  let number: Int
  let jobs: Jobs
  init(_ number: Int, _ jobs: Jobs) {
    self.number = number
    self.jobs = jobs
  }
  @MainActor deinit { jobs.run(number) }
}

/// What a job does where it does not suspend.
func work(_ random: inout SplitMix64, _ jobs: Jobs) {
  switch random.below(24) {
  case 0..<4: compute(UInt64(random.below(50_000)))
  case 4: sched_yield()
  case 5: jobs.block { usleep(UInt32(random.below(1500))) }
  case 6:
    jobs.block {
      // It waits for a job that it makes.
      guard let number = jobs.new() else { return }
      let end = DispatchSemaphore(value: 0)
      Task.detached(priority: random.priority()) {
        jobs.run(number)
        end.signal()
      }
      end.wait()
    }
  case 7:
    if let number = jobs.new() { _ = OnActor(number, jobs) }
  default: break
  }
}

/// One job, and what it makes.
func run(_ number: Int, _ random: SplitMix64, _ jobs: Jobs) async {
  var random = random
  work(&random, jobs)
  for _ in 0..<random.below(4) { await step(&random, jobs) }
  jobs.run(number)
}

func step(_ random: inout SplitMix64, _ jobs: Jobs) async {
  let seed = SplitMix64(state: random.next())
  switch random.below(14) {
  case 0: await Task.yield()
  case 1:
    guard let number = jobs.new() else { return }
    Task.detached(priority: random.priority()) { await run(number, seed, jobs) }
  case 2:
    guard let number = jobs.new() else { return }
    Task { await run(number, seed, jobs) }
  case 3:
    guard let number = jobs.new() else { return }
    await Task(priority: random.priority()) { await run(number, seed, jobs) }.value
  case 4:
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<random.below(30) {
        guard let number = jobs.new() else { return }
        let seed = SplitMix64(state: random.next())
        group.addTask(priority: random.priority()) { await run(number, seed, jobs) }
      }
    }
  case 5:
    guard let one = jobs.new() else { return }
    async let first: Void = run(one, seed, jobs)
    await Task.yield()
    await first
  case 6:
    // By another task, which may be faster than this one.
    await withUnsafeContinuation { own in
      Task.detached(priority: random.priority()) { own.resume() }
    }
  case 7:
    // By a thread.
    await withUnsafeContinuation { own in
      pthread_detach(startThread { own.resume() })
    }
  case 8: try? await Task.sleep(for: .microseconds(random.below(3000)))
  case 9: await shared[random.below(3)].run(seed, jobs)
  case 10: await MainActor.run { compute(1000) }
  case 11:
    // Many at once: more than a thread keeps for itself.
    for _ in 0..<random.below(400) {
      guard let number = jobs.new() else { return }
      Task.detached(priority: .medium) { jobs.run(number) }
    }
  case 12:
    // A thread that ends with a destructor.
    let pause = UInt32(random.below(100))
    guard let number = jobs.new() else { return }
    pthread_detach(startThread {
      usleep(pause)
      Task.detached { await run(number, seed, jobs) }
    })
  default:
    let task = Task.detached(priority: .background) { await Task.yield() }
    task.cancel()
    if random.below(2) == 0 { await task.value }
  }
}

/// Runs a program of `count` jobs that four threads begin.
func runProgram(_ seed: UInt64, _ count: Int) {
  let jobs = Jobs(count)
  var random = SplitMix64(state: seed)
  let seeds = (0..<4).map { _ in random.next() }
  inThreads(4) { thread in
    var random = SplitMix64(state: seeds[thread])
    while let number = jobs.new() {
      let seed = SplitMix64(state: random.next())
      Task.detached(priority: random.priority()) { await run(number, seed, jobs) }
      switch random.below(16) {
      case 0: usleep(UInt32(random.below(2000)))
      case 1..<4: compute(UInt64(random.below(100_000)))
      default: break
      }
    }
  }
  wait(for: "all jobs of seed \(seed)") { jobs.isComplete }
  jobs.check()
}

/// Forks now and then; the children use tasks of their own, and none of the parent's.
func forkNowAndThen(_ count: Int, _ stop: Flag) {
  for number in 0..<count where !stop.isSet {
    let child = forkProcess()
    if child == 0 {
      watch("a child", 30)
      let ran = Counter()
      for _ in 0..<300 {
        Task.detached(priority: ran.count % 2 == 0 ? .high : nil) {
          await Task.yield()
          ran.add()
        }
      }
      wait(for: "jobs of a child") { ran.count == 300 }
      usleep(2000)
      exit(failures.count == 0 ? 5 : 6)
    }
    let status = waitForChild(child)
    expect(status == 5, "child \(number): status \(status)")
    usleep(3000)
  }
}

@main struct Main {
  static func main() async {
    setvbuf(stdout, nil, _IOLBF, 0)
    var seeds: ClosedRange<UInt64> = 1...1
    var count = 20_000
    var forks = 0
    var words = CommandLine.arguments.dropFirst()
    while let word = words.popFirst() {
      let bounds = words.popFirst()?.split(separator: ":").compactMap { UInt64($0) } ?? []
      switch (word, bounds.count) {
      case ("--seeds", 2) where bounds[0] <= bounds[1]: seeds = bounds[0]...bounds[1]
      case ("--seeds", 1): seeds = bounds[0]...bounds[0]
      case ("--jobs", 1): count = Int(bounds[0])
      case ("--forks", 1): forks = Int(bounds[0])
      default:
        print("usage: executor-jobs [--seeds FIRST:LAST] [--jobs N] [--forks N]")
        exit(2)
      }
    }
    for seed in seeds {
      watch("seed \(seed)", 100)
      let forks = forks, count = count
      await withUnsafeContinuation { own in
        pthread_detach(startThread {
          let stop = Flag()
          let forker = startThread { forkNowAndThen(forks, stop) }
          let takes = time { runProgram(seed, count) }
          stop.set()
          pthread_join(forker, nil)
          print("seed \(seed): \(takes / 1_000_000) ms")
          own.resume()
        })
      }
      if failures.count > 0 {
        print("failed: --seeds \(seed) --jobs \(count) --forks \(forks)")
        exit(1)
      }
    }
    exit(0)
  }
}
