// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -target %target-future-triple %import-libdispatch -parse-as-library %s %S/../../programs/Inputs/SplitMix64.swift -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out 400 | %FileCheck %s
// RUN: %target-run %t/a.out 400 inline | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// It would hang or crash: 5 of 6 kinds of executors did so within 400 rounds.
// UNSUPPORTED: without_task-cancel-unlocked
// UNSUPPORTED: without_taskgroup-discarding-unlocked

// Random trees of tasks that are cancelled from several threads, while others
// resume their tasks, and while their scopes end.
//
//     a.out ROUNDS [inline|serial|concurrent|global|mixed [FIRST SEED [CANCELLERS [LANES]]]]
//
// LANES rounds run at a time. `utils/stress --cancellation` counts the rounds of many runs.
// A tree has groups, discarding groups, async lets and leaves, on inline, serial,
// concurrent and global executors. Leaves wait; have several handlers, one in the
// other; lock what their resumers lock; cancel tasks, groups and themselves.
// Each handler that was installed before its task was cancelled runs once, and
// has ended when its scope ends. A round that takes longer than 30 s is
// printed with its seed, and ends the program with an error.
//
// With inline executors a handler resumes no task but its own, and no lock is
// held by who resumes: each may else wait for what is below it on its own stack.
// See task_cancel_waits_for_itself.swift.

import Dispatch
import Synchronization

extension SplitMix64 {
  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
}

final class InlineExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
  }
}
final class QueueExecutor: TaskExecutor {
  let queue: DispatchQueue
  init(_ attributes: DispatchQueue.Attributes) {
    queue = DispatchQueue(label: "executor", attributes: attributes)
  }
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

let inlineExecutor = InlineExecutor()
let serial = QueueExecutor([])
let concurrent = QueueExecutor(.concurrent)

struct Failed: Error {}

/// What all tasks of a round share.
final class Round: Sendable {
  let seed: UInt64
  let mode: String
  let lock = Mutex<Int>(0)
  let handlersInstalled = Atomic<Int>(0), handlersRun = Atomic<Int>(0)
  let gates = Mutex<[Gate]>([])
  let tasks = Mutex<[Task<Void, Never>]>([])
  /// A thread may run tasks inline while it resumes one.
  var isInline: Bool { mode == "inline" || mode == "mixed" }

  init(seed: UInt64, mode: String) {
    self.seed = seed
    self.mode = mode
  }

  func executor(_ random: inout SplitMix64) -> (any TaskExecutor)? {
    switch mode {
    case "inline": return inlineExecutor
    case "serial": return serial
    case "concurrent": return concurrent
    case "global": return nil
    case "mixed": return [inlineExecutor, serial, concurrent, nil][random.below(4)]
    default: return [serial, concurrent, nil][random.below(3)]
    }
  }
}

/// One suspension, which a handler or anybody else may end first.
final class Gate: Sendable {
  enum State { case new, waiting(UnsafeContinuation<Void, Never>), open }
  let state = Mutex<State>(.new)

  func wait() async {
    await withUnsafeContinuation { new in
      let isOpen = state.withLock { state in
        if case .open = state { return true }
        state = .waiting(new)
        return false
      }
      if isOpen { new.resume() }
    }
  }
  /// Under the lock if that cannot run the task.
  func open(underLock: Bool) {
    let continuation = state.withLock { state -> UnsafeContinuation<Void, Never>? in
      guard case .waiting(let old) = state else {
        state = .open
        return nil
      }
      state = .open
      if !underLock { return old }
      old.resume()
      return nil
    }
    continuation?.resume()
  }
}

func check(_ isRight: Bool, _ message: @autoclosure () -> String, _ round: Round) {
  if !isRight { fatalError("\(message()): \(round.mode), seed \(round.seed)") }
}

func withHandlers(
  _ count: Int, _ round: Round, _ random: SplitMix64, _ gate: Gate?,
  _ body: @Sendable () async -> Void
) async {
  if count == 0 { return await body() }
  var random = random
  let locks = random.chance(30), cancels = random.chance(15)
  let opensOthers = random.chance(20) && !round.isInline
  let spins = random.chance(10)
  let opens = count == 1 || random.chance(20)
  let number = Int(random.next() >> 2)
  let next = random
  let runs = Atomic<Int>(0), ended = Atomic<Int>(0)
  let wasCancelled = Task.isCancelled
  var isCancelled = false
  await withTaskCancellationHandler {
    round.handlersInstalled.add(1, ordering: .relaxed)
    await withHandlers(count - 1, round, next, gate, body)
    isCancelled = Task.isCancelled
  } onCancel: {
    runs.add(1, ordering: .relaxed)
    round.handlersRun.add(1, ordering: .relaxed)
    if locks { round.lock.withLock { $0 += 1 } }
    if spins { for _ in 0..<200 { round.handlersRun.add(0, ordering: .relaxed) } }
    if opensOthers {
      let other = round.gates.withLock { $0.isEmpty ? nil : $0[number % $0.count] }
      other?.open(underLock: true)
    }
    if opens && !round.isInline { gate?.open(underLock: true) }
    ended.add(1, ordering: .relaxed)
    // The last: it may run the task, and end the scope, on this thread.
    if cancels {
      let task = round.tasks.withLock { $0.isEmpty ? nil : $0[number % $0.count] }
      task?.cancel()
    } else if opens && round.isInline {
      gate?.open(underLock: false)
    }
  }
  let ran = runs.load(ordering: .relaxed)
  check(ran <= 1, "a handler ran \(ran) times", round)
  check(ran == ended.load(ordering: .relaxed), "a handler still runs", round)
  if wasCancelled { check(ran == 1, "a handler was not called at once", round) }
  if isCancelled { check(ran == 1, "a handler was left out", round) }
}

func leaf(_ round: Round, _ seed: UInt64) async {
  var random = SplitMix64(state: seed)
  let handlers = random.below(4)
  if random.chance(10) { withUnsafeCurrentTask { $0?.cancel() } }
  if random.chance(20) {
    // The scope ends on its own, maybe amid the cancellation.
    let spins = random.below(300)
    await withHandlers(handlers, round, random, nil) {
      for _ in 0..<spins where Task.isCancelled { break }
    }
    return
  }
  let gate = Gate()
  round.gates.withLock { $0.append(gate) }
  await withHandlers(handlers, round, random, gate) { await gate.wait() }
}

func tree(_ round: Round, _ seed: UInt64, _ depth: Int) async {
  var random = SplitMix64(state: seed)
  let kind = depth == 0 ? 0 : random.below(6)
  let handlers = random.chance(50) ? random.below(3) : 0
  let seeds = (0..<4).map { _ in random.next() }
  let children = 1 + random.below(4)
  let cancelsAll = random.chance(20), throwing = random.chance(40)
  let executors = (0..<4).map { _ in round.executor(&random) }
  await withHandlers(kind == 0 ? 0 : handlers, round, random, nil) {
    switch kind {
    case 0, 1:
      await leaf(round, seeds[0])
    case 2:
      async let one: Void = tree(round, seeds[0], depth - 1)
      async let other: Void = tree(round, seeds[1], depth - 1)
      if !cancelsAll { _ = await (one, other) }
    case 3:
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<children {
          group.addTask(executorPreference: executors[number]) {
            await tree(round, seeds[number], depth - 1)
          }
        }
        if cancelsAll { group.cancelAll() }
        if throwing { await group.next() }
      }
    case 4:
      try? await withThrowingDiscardingTaskGroup { group in
        for number in 0..<children {
          group.addTask(executorPreference: executors[number]) {
            await tree(round, seeds[number], depth - 1)
            if throwing && number == 0 { throw Failed() }
          }
        }
        if cancelsAll { group.cancelAll() }
      }
    default:
      let task = Task(executorPreference: executors[0]) {
        await tree(round, seeds[0], depth - 1)
      }
      round.tasks.withLock { $0.append(task) }
      await task.value
    }
  }
}

func runRound(_ round: Round, cancellers: Int, _ lane: Lane) async {
  var random = SplitMix64(state: round.seed)
  let count = 1 + random.below(3)
  let depth = 1 + random.below(3)
  for _ in 0..<count {
    let seed = random.next()
    let task = Task(executorPreference: round.executor(&random)) {
      await tree(round, seed, depth)
    }
    round.tasks.withLock { $0.append(task) }
  }
  let pauses = (0..<cancellers).map { _ in random.below(2000) }
  let opens = (0..<cancellers).map { _ in random.chance(50) }
  let done = (0..<cancellers).map { _ in DispatchSemaphore(value: 0) }
  for number in 0..<cancellers {
    lane.cancelQueues[number].async {
      for _ in 0..<pauses[number] { round.handlersRun.add(0, ordering: .relaxed) }
      if opens[number] {
        for gate in round.gates.withLock({ $0 }) {
          if round.isInline {
            gate.open(underLock: false)
          } else {
            round.lock.withLock { _ in gate.open(underLock: true) }
          }
        }
      }
      let tasks = round.tasks.withLock { $0 }
      for task in number % 2 == 0 ? tasks : tasks.reversed() { task.cancel() }
      done[number].signal()
    }
  }
  // Some gates have no handler, and some handlers none: open them until the end.
  let ended = Atomic<Bool>(false)
  let opened = DispatchSemaphore(value: 0)
  lane.openQueue.async {
    for semaphore in done { semaphore.wait() }
    while !ended.load(ordering: .acquiring) {
      for gate in round.gates.withLock({ $0 }) { gate.open(underLock: false) }
      for task in round.tasks.withLock({ $0 }) { task.cancel() }
      _ = opened.wait(timeout: .now() + .microseconds(50))
    }
    opened.signal()
  }
  var next = 0
  while let task = round.tasks.withLock({ $0.count > next ? $0[next] : nil }) {
    await task.value
    next += 1
  }
  ended.store(true, ordering: .releasing)
  await withUnsafeContinuation { done in lane.openQueue.async { done.resume() } }
}

/// Rounds that run one after the other.
final class Lane: Sendable {
  let cancelQueues = (0..<8).map { DispatchQueue(label: "cancels \($0)") }
  let openQueue = DispatchQueue(label: "opens")
  let seed = Atomic<UInt64>(0)
}

@main struct Main {
  static func main() async {
    let arguments = CommandLine.arguments
    let rounds = arguments.count > 1 ? UInt64(arguments[1])! : 1000
    let mode = arguments.count > 2 ? arguments[2] : "queues"
    let first = arguments.count > 3 ? UInt64(arguments[3])! : 1
    let cancellers = arguments.count > 4 ? Int(arguments[4])! : 2
    let lanes = (0..<(arguments.count > 5 ? Int(arguments[5])! : 1)).map { _ in Lane() }

    let watch = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "watch"))
    let last = Mutex<[UInt64]>(lanes.map { _ in 0 })
    watch.schedule(deadline: .now() + .seconds(30), repeating: .seconds(30))
    watch.setEventHandler {
      let seeds = lanes.map { $0.seed.load(ordering: .relaxed) }
      let hanging = last.withLock { old in
        defer { old = seeds }
        return zip(seeds, old).filter { $0 == $1 && $0 != .max }.map { $0.0 }
      }
      if !hanging.isEmpty { fatalError("mode \(mode), seed \(hanging) hangs") }
    }
    watch.resume()

    let installed = Atomic<Int>(0), run = Atomic<Int>(0)
    await withTaskGroup(of: Void.self) { group in
      for (number, lane) in lanes.enumerated() {
        group.addTask {
          for seed in stride(from: first + UInt64(number), to: first + rounds, by: lanes.count) {
            lane.seed.store(seed, ordering: .relaxed)
            let round = Round(seed: seed, mode: mode)
            await runRound(round, cancellers: cancellers, lane)
            installed.add(round.handlersInstalled.load(ordering: .relaxed), ordering: .relaxed)
            run.add(round.handlersRun.load(ordering: .relaxed), ordering: .relaxed)
          }
          lane.seed.store(.max, ordering: .relaxed)
        }
      }
    }
    // CHECK: handlers ran
    print(
      "\(rounds) rounds, \(installed.load(ordering: .relaxed)) handlers installed,",
      "\(run.load(ordering: .relaxed)) handlers ran")
  }
}
