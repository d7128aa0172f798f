// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/../Concurrency/Runtime/Inputs/deinit-modes.c -o %t/deinit-modes.o
// RUN: %target-build-swift -O -parse-as-library -target %target-swift-6.2-abi-triple -Xfrontend -disable-availability-checking -import-objc-header %S/../Concurrency/Runtime/Inputs/deinit-modes.h %s %S/Inputs/SplitMix64.swift %S/../Concurrency/Runtime/Inputs/DeinitModes.swift %t/deinit-modes.o -o %t/random
// RUN: %target-codesign %t/random
// ThreadSanitizer makes it many times slower.
// RUN: %target-run %t/random --seeds 1:%if tsan %{4%} %else %{20%} --operations 50000

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// REQUIRES: libdispatch
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// The executable preempts a symbol of the runtime library.
// REQUIRES: OS=linux-gnu
// With assertions the unpatched runtime crashes in this program now and then: the child of an
// `async let` that completes finds a group in memory that the task allocator has marked as free.
// UNSUPPORTED: runtime_before-debug

// Runs programs that are made up from a seed in several tasks and threads at once: they
// bind task-local values, create tasks of all kinds, cancel them, raise their priorities,
// call actors, make and drop actors and objects with isolated deinits, and let threads
// without a task do the same. The deinits clear task-locals, copy them, or are tasks of
// their own; on a runtime that has only the first, all of them do that.
//
// What a part of a program does depends on its seed alone, so the output, which is counts,
// is the same each time and on every correct runtime. Each part knows the values that it
// must see. At the end all bodies must have run once and nothing may be left.
//
//   concurrency-random [--seeds FIRST:LAST] [--operations N] [--workers N]

import Dispatch
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

// MARK: - What has happened, and what should have

final class Counter: Sendable {
  let value = Atomic(0)
  func add(_ n: Int = 1) { value.add(n, ordering: .acquiringAndReleasing) }
  func get() -> Int { value.load(ordering: .acquiring) }
}

let started = Counter()
let finished = Counter()
let alive = Counter()
let operations = Counter()
let tasks = Counter()
let deinits = Counter()
let calls = Counter()
let cancellations = Counter()
let problems = Mutex<[String]>([])

func problem(_ text: String) {
  problems.withLock { if $0.count < 20 { $0.append(text) } }
}

func expect(_ condition: Bool, _ text: @autoclosure () -> String) {
  if !condition { problem(text()) }
}

// MARK: - Task-local values

final class Tracked: Sendable {
  let id: Int32
  init(_ id: Int32) {
    self.id = id
    alive.add()
  }
  deinit { alive.add(-1) }
}

enum Local {
  static let numbers = (0..<8).map { _ in TaskLocal<Int16>(wrappedValue: 0) }
  @TaskLocal static var object: Tracked?
}

/// The values that must be visible.
struct Environment: Equatable {
  var numbers = SIMD8<Int16>()
  var object: Int32 = 0

  static var visible: Environment {
    var result = Environment()
    for i in 0..<8 { result.numbers[i] = Local.numbers[i].get() }
    result.object = Local.object?.id ?? 0
    return result
  }
}

func check(_ environment: Environment, _ place: StaticString) {
  let visible = Environment.visible
  expect(visible == environment, "\(place): sees \(visible), expected \(environment)")
}

// MARK: - Actors and objects with isolated deinits

/// What each of the global actors protects.
final class Protected: @unchecked Sendable {
  var count = 0
  /// The last object of each worker that it has destroyed.
  var last: [Int] = []
}

let protected = (0..<4).map { _ in Protected() }

/// The modes of deinits that this runtime has; those that it lacks are replaced.
let modes = [DeinitMode.reset, .copy, .async, .asyncCopy].map { $0.isSupported ? $0 : .reset }

extension DeinitMode {
  var isAsync: Bool { self == .async || self == .asyncCopy }
}

@globalActor actor First { static let shared = First() }
@globalActor actor Second { static let shared = Second() }

final class QueueExecutor: SerialExecutor {
  let queue = DispatchQueue(label: "queue")
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}

@globalActor actor Queue {
  static let shared = Queue()
  nonisolated let executor = QueueExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }
}

/// What is known of the deinit of an object or actor.
struct Plan: Sendable {
  var mode = DeinitMode.reset
  /// What it must see.
  var environment = Environment()
  /// The object is the how-manieth that this worker makes of the ones that are destroyed
  /// in that order; 0 when its order is not defined.
  var worker = 0
  var number = 0

  /// The deinit of an object that is released where `outer` is visible.
  init(_ mode: DeinitMode, _ outer: Environment) {
    self.mode = mode
    if mode == .copy || mode == .asyncCopy { environment = outer }
  }
}

/// What the deinit of an object that is isolated to actor `index` does.
func runDeinit(_ index: Int, _ plan: Plan) {
  check(plan.environment, "isolated deinit")
  let state = protected[index]
  state.count += 1
  if plan.number > 0 {
    expect(state.last[plan.worker] < plan.number,
           "actor \(index): object \(plan.number) of worker \(plan.worker) came after "
             + "\(state.last[plan.worker])")
    state.last[plan.worker] = plan.number
  }
  if state.count % 7 == 0 {
    Local.numbers[2].withValue(5) {
      var environment = plan.environment
      environment.numbers[2] = 5
      check(environment, "bound in an isolated deinit")
    }
  }
  deinits.add()
  finished.add()
}

func objectIsMade() {
  started.add()
  alive.add()
}

class Object: @unchecked Sendable {
  let plan: Plan
  let next: AnyObject?
  init(_ plan: Plan, _ next: AnyObject?) {
    self.plan = plan
    self.next = next
    objectIsMade()
  }
  deinit { alive.add(-1) }
}

final class FirstObject: Object, @unchecked Sendable {
  @First deinit {
    First.assertIsolated()
    runDeinit(0, plan)
  }
}

final class SecondObject: Object, @unchecked Sendable {
  @Second deinit {
    Second.assertIsolated()
    runDeinit(1, plan)
  }
}

final class MainObject: Object, @unchecked Sendable {
  @MainActor deinit {
    MainActor.assertIsolated()
    runDeinit(2, plan)
  }
}

final class QueueObject: Object, @unchecked Sendable {
  @Queue deinit { runDeinit(3, plan) }
}

func makeObject(_ index: Int, _ plan: Plan, next: AnyObject? = nil) -> AnyObject {
  switch index {
  case 0: FirstObject(plan, next)
  case 1: SecondObject(plan, next)
  case 2: MainObject(plan, next)
  default: QueueObject(plan, next)
  }
}

/// Have each object choose the mode of its deinit.
func usePlans() {
  deinit_set_chooser { object in
    let object = Unmanaged<AnyObject>.fromOpaque(object!).takeUnretainedValue()
    let plan = (object as? Cell)?.plan ?? (object as! Object).plan
    return plan.mode.rawValue
  }
  // An async deinit that suspends, of one of the actors.
  setAsyncBody(of: SecondObject.self) {
    check($0.plan.environment, "async deinit")
    await Task.yield()
    check($0.plan.environment, "async deinit, resumed")
  }
}

/// Objects in place: each must be gone when the next is made.
@First func dropInPlace(_ environment: Environment, _ modes: [DeinitMode]) {
  for mode in modes {
    let before = protected[0].count
    _ = makeObject(0, Plan(mode, environment))
    expect(protected[0].count == before + 1, "an object in place was not destroyed at once")
    check(environment, "after a deinit in place")
  }
}

actor Cell {
  nonisolated let plan: Plan
  var sum = 0
  init(_ plan: Plan) {
    self.plan = plan
    objectIsMade()
  }
  func add(_ environment: Environment, _ n: Int) -> Int {
    check(environment, "actor")
    sum += n
    calls.add()
    return sum
  }
  isolated deinit {
    check(plan.environment, "actor's deinit")
    finished.add()
    alive.add(-1)
  }
}

// MARK: - Programs

/// Where a part of a program stands.
struct Part: Sendable {
  var random: SplitMix64
  var environment = Environment()
  var budget: Int
  var depth = 0
  /// The worker whose own thread of control this is; nil in what it creates.
  var worker: Int?
  var objects = 0

  /// A part that runs beside this one, and a share of what is left to do.
  mutating func child(_ limit: Int = 64) -> Part {
    let share = min(budget, 1 + random.below(limit))
    budget -= share
    return Part(
      random: SplitMix64(state: random.next()), environment: environment, budget: share,
      depth: depth + 1)
  }

  /// One of `count` modes, of all if the runtime has them.
  mutating func mode(of count: Int = modes.count) -> DeinitMode { modes[random.below(count)] }

  /// Makes an object that is to be released in this part; it counts in the order of its
  /// actor if that has one.
  mutating func object(_ index: Int) -> AnyObject {
    var plan = Plan(mode(), environment)
    if let worker, !(index == 1 && plan.mode.isAsync) {
      objects += 1
      plan.worker = worker
      plan.number = objects
    }
    return makeObject(index, plan)
  }
}

func childIsMade() {
  started.add()
  tasks.add()
}

func runChild(_ part: Part) async {
  check(part.environment, "child")
  var part = part
  await run(&part)
  check(part.environment, "end of child")
  finished.add()
}

func bind(_ part: inout Part, _ body: (inout Part) async -> Void) async {
  let outer = part.environment
  let key = part.random.below(9)
  let value = Int16(truncatingIfNeeded: part.random.next() | 1)
  if key == 8 {
    part.environment.object = Int32(value)
    await Local.$object.withValue(Tracked(Int32(value))) { await body(&part) }
  } else {
    part.environment.numbers[key] = value
    await Local.numbers[key].withValue(value) { await body(&part) }
  }
  part.environment = outer
}

func bindSync(_ part: inout Part, _ body: (inout Part) -> Void) {
  let outer = part.environment
  let key = part.random.below(9)
  let value = Int16(truncatingIfNeeded: part.random.next() | 1)
  if key == 8 {
    part.environment.object = Int32(value)
    Local.$object.withValue(Tracked(Int32(value))) { body(&part) }
  } else {
    part.environment.numbers[key] = value
    Local.numbers[key].withValue(value) { body(&part) }
  }
  part.environment = outer
}

func run(_ part: inout Part) async {
  while part.budget > 0 {
    part.budget -= 1
    operations.add()
    await step(&part)
  }
}

func step(_ part: inout Part) async {
  switch part.random.below(40) {
  case 0..<6:
    guard part.depth < 12 else { return check(part.environment, "deep") }
    // The scope has a share of what is left, so that others follow it.
    let all = part.budget
    let inside = min(all, part.random.below(40))
    part.budget = inside
    part.depth += 1
    await bind(&part) { await run(&$0) }
    part.depth -= 1
    part.budget = all - inside
  case 6..<9:
    check(part.environment, "step")
  case 9..<14:
    let child = part.child()
    childIsMade()
    Task { await runChild(child) }
  case 14:
    var child = part.child()
    child.environment = Environment()
    childIsMade()
    Task.detached(priority: [.low, .medium, .high][part.random.below(3)]) { [child] in
      await runChild(child)
    }
  case 15:
    let child = part.child(8)
    childIsMade()
    await Task { await runChild(child) }.value
  case 16:
    await group(&part)
  case 17:
    await discardingGroup(&part)
  case 18:
    let one = part.child(8)
    let two = part.child(8)
    childIsMade()
    childIsMade()
    async let first: Void = runChild(one)
    async let second: Void = runChild(two)
    _ = await (first, second)
  case 19:
    await cancel(&part)
  case 20..<28:
    _ = part.object(part.random.below(4))
  case 28, 29:
    drop(&part)
  case 30:
    dropChain(&part)
  case 31:
    let modes = (0...part.random.below(8)).map { _ in part.mode(of: 2) }
    await dropInPlace(part.environment, modes)
  case 32:
    let cell = Cell(Plan(part.mode(), part.environment))
    for n in 0..<part.random.below(3) {
      let sum = await cell.add(part.environment, 1)
      expect(sum == n + 1, "actor counts \(sum)")
    }
  case 33:
    await shareCell(&part)
  case 34:
    await resumeElsewhere(&part)
  case 35:
    if part.random.below(4) == 0 { runThread(&part) }
  case 36:
    await escalate(&part)
  case 37:
    await Task.yield()
  default:
    sync(&part)
  }
}

/// Many objects at once, of one actor or of several.
func drop(_ part: inout Part) {
  let one = part.random.below(8)
  var objects: [AnyObject] = []
  for _ in 0..<(2 + part.random.below(40)) {
    objects.append(part.object(one < 4 ? one : part.random.below(4)))
  }
}

/// Each of a chain is destroyed by the one before it.
func dropChain(_ part: inout Part) {
  var plans: [Plan] = []
  for _ in 0...part.random.below(5) {
    plans.append(Plan(part.mode(), plans.last?.environment ?? part.environment))
  }
  var chain: AnyObject?
  for plan in plans.reversed() { chain = makeObject(part.random.below(4), plan, next: chain) }
}

/// Several tasks call one actor at the same time.
func shareCell(_ part: inout Part) async {
  let cell = Cell(Plan(part.mode(), part.environment))
  let environment = part.environment
  let count = part.random.below(5)
  await withTaskGroup(of: Void.self) { group in
    for n in 0..<count {
      childIsMade()
      group.addTask(priority: [.low, .medium, .high][n % 3]) {
        for _ in 0..<3 { _ = await cell.add(environment, 1) }
        finished.add()
      }
    }
  }
  let sum = await cell.add(environment, 0)
  expect(sum == 3 * count, "actor counts \(sum) of \(3 * count)")
}

func group(_ part: inout Part) async {
  let count = part.random.below(5)
  let total = await withTaskGroup(of: Int.self) { group in
    for _ in 0..<count {
      let isBound = part.random.below(2) == 0
      let child = part.child(8)
      childIsMade()
      if isBound {
        // The child outlives the binding, and keeps the value.
        Local.numbers[7].withValue(9) {
          var child = child
          child.environment.numbers[7] = 9
          group.addTask { [child] in
            await runChild(child)
            return 1
          }
        }
      } else {
        group.addTask {
          await runChild(child)
          return 1
        }
      }
    }
    if part.random.below(4) == 0 { group.cancelAll() }
    return await group.reduce(0, +)
  }
  expect(total == count, "group of \(count) gave \(total)")
}

func discardingGroup(_ part: inout Part) async {
  await withDiscardingTaskGroup { group in
    for _ in 0..<part.random.below(5) {
      let child = part.child(8)
      childIsMade()
      group.addTask { await runChild(child) }
    }
  }
}

func cancel(_ part: inout Part) async {
  let cancelled = Counter()
  await withTaskGroup(of: Void.self) { group in
    let (stream, end) = AsyncStream<Void>.makeStream()
    childIsMade()
    group.addTask {
      await withTaskCancellationHandler {
        for await _ in stream {}
      } onCancel: {
        cancelled.add()
        end.finish()
      }
      expect(Task.isCancelled, "a cancelled task is not")
      finished.add()
    }
    group.cancelAll()
  }
  expect(cancelled.get() == 1, "a cancellation handler did not run once")

  // This one has a program of its own to run meanwhile.
  let child = part.child(8)
  childIsMade()
  let task = Task {
    await runChild(child)
    while !Task.isCancelled { await Task.yield() }
  }
  task.cancel()
  if part.random.below(2) == 0 { await task.value }
  cancellations.add()
}

/// Raise the priority of a task while it runs: by a call, or by waiting for it.
func escalate(_ part: inout Part) async {
  let child = part.child(16)
  childIsMade()
  let task = Task(priority: .background) { await runChild(child) }
  if part.random.below(2) == 0 { task.escalatePriority(to: .high) }
  if part.random.below(2) == 0 { await task.value }
  check(part.environment, "escalated")
}

func resumeElsewhere(_ part: inout Part) async {
  let child = part.child(8)
  childIsMade()
  await withCheckedContinuation { continuation in
    Task {
      continuation.resume()
      await runChild(child)
    }
  }
  check(part.environment, "resumed")
}

/// What a part can do where it cannot suspend.
func sync(_ part: inout Part) {
  for _ in 0..<(1 + part.random.below(3)) {
    guard part.budget > 0 else { return }
    part.budget -= 1
    operations.add()
    switch part.random.below(7) {
    case 0, 1:
      guard part.depth < 14 else { continue }
      part.depth += 1
      bindSync(&part) { sync(&$0) }
      part.depth -= 1
    case 2:
      let child = part.child(8)
      childIsMade()
      Task { await runChild(child) }
    case 3:
      _ = makeObject(part.random.below(4), Plan(part.mode(), part.environment))
    case 4:
      drop(&part)
    default:
      check(part.environment, "sync")
    }
  }
}

/// A thread without a task, which ends.
func runThread(_ part: inout Part) {
  final class Box: @unchecked Sendable {
    var part: Part
    init(_ part: Part) { self.part = part }
  }
  var inside = part.child(32)
  inside.environment = Environment()
  let box = Unmanaged.passRetained(Box(inside)).toOpaque()
#if canImport(Darwin) || canImport(Musl)
  var thread: pthread_t? = nil
#else
  var thread = pthread_t()
#endif
  let status = pthread_create(&thread, nil, { argument in
#if canImport(Darwin) || canImport(Musl)
    let box = Unmanaged<Box>.fromOpaque(argument).takeRetainedValue()
#else
    let box = Unmanaged<Box>.fromOpaque(argument!).takeRetainedValue()
#endif
    check(Environment(), "thread")
    while box.part.budget > 0 { sync(&box.part) }
    check(Environment(), "end of thread")
    return nil
  }, box)
  precondition(status == 0)
#if canImport(Darwin) || canImport(Musl)
  pthread_join(thread!, nil)
#else
  pthread_join(thread, nil)
#endif
}

// MARK: - Main

@main struct Main {
  /// A program of `count` operations in all; waits until everything has ended.
  static func runProgram(seed: UInt64, operations count: Int, workers: Int) async {
    var random = SplitMix64(state: seed)
    for state in protected { state.last = Array(repeating: 0, count: workers) }
    for worker in 0..<workers {
      let part = Part(
        random: SplitMix64(state: random.next()), budget: count / workers, worker: worker)
      childIsMade()
      // Nobody waits for the task itself: that would change its priority, and the order.
      Task.detached(priority: [.low, .medium, .high][worker % 3]) { await runChild(part) }
    }
    let clock = ContinuousClock()
    let deadline = clock.now + .seconds(240)
    while true {
      // Read in this order: what finishes in between has been started before.
      let done = finished.get()
      if done == started.get() { break }
      if clock.now > deadline {
        return problem("\(started.get()) started, \(done) finished")
      }
      try? await Task.sleep(for: .milliseconds(1))
    }
    // An object is freed a moment after its body.
    while alive.get() != 0 && clock.now < deadline {
      try? await Task.sleep(for: .milliseconds(1))
    }
    let left = alive.get()
    expect(left == 0, "\(left) objects are left")
  }

  static func main() async {
    usePlans()
    var arguments = CommandLine.arguments.dropFirst()
    var seeds: ClosedRange<UInt64> = 1...1
    var count = 10_000
    var workers = 6
    while let argument = arguments.popFirst() {
      let bounds = arguments.popFirst()?.split(separator: ":").compactMap { UInt64($0) } ?? []
      switch (argument, bounds.count) {
      case ("--seeds", 2) where bounds[0] <= bounds[1]: seeds = bounds[0]...bounds[1]
      case ("--seeds", 1): seeds = bounds[0]...bounds[0]
      case ("--operations", 1): count = Int(bounds[0])
      case ("--workers", 1) where bounds[0] > 0: workers = Int(bounds[0])
      default:
        print("usage: concurrency-random [--seeds FIRST:LAST] [--operations N] [--workers N]")
        exit(2)
      }
    }
    for seed in seeds {
      let base = protected.map(\.count)
      let counters = [operations, tasks, deinits, calls, cancellations]
      let start = counters.map { $0.get() }
      await runProgram(seed: seed, operations: count, workers: workers)
      let counts = zip(counters, start).map { $0.get() - $1 }
      let each = zip(protected, base).map { $0.count - $1 }
      expect(each.reduce(0, +) == counts[2], "an actor lost count: \(each), \(counts[2])")
      let found = problems.withLock { $0 }
      print("seed \(seed): \(counts[0]) operations, \(counts[1]) tasks, \(counts[2]) deinits "
              + "\(each), \(counts[3]) calls, \(counts[4]) cancellations")
      fflush(nil)
      if !found.isEmpty {
        print(found.joined(separator: "\n"))
        print("failed: --seeds \(seed) --operations \(count) --workers \(workers)")
        exit(1)
      }
    }
  }
}
