// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -parse-as-library -target %target-swift-6.2-abi-triple -Xfrontend -disable-availability-checking -Xfrontend -enable-builtin-module %s %S/../programs/Inputs/SplitMix64.swift -o %t/random
// RUN: %target-codesign %t/random
// RUN: %target-run %t/random --seeds 1:150

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime

// Runs programs that are made up from a seed: they bind task-local values and
// create tasks of all kinds in each other, let some of the tasks wait while the
// scopes around them end, and finish them in random order.
//
// A model says which value each key must have at any time, and which values must
// be alive: those bound in a scope that has not ended, and those that were
// visible where a task was created that has not completed.
//
// Only one task does something at a time, so that with --log the output is the
// same each time, and can be compared between two runtimes: it also has the
// order in which values were destroyed.
//
//   tasklocal-random --seeds FIRST:LAST [--log]

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif
import Builtin
import Synchronization

// MARK: - What has happened, and what should have

/// The program that is running. Its parts run one after the other, in several
/// threads.
final class World: Sendable {
  struct State {
    var seed: UInt64
    var random: SplitMix64
    var keyCount: Int
    var budget: Int
    var log: [String] = []
    var objectCount = 0
    var alive: Set<Int> = []
    /// How many scopes and tasks an object must be kept alive by.
    var holders: [Int: Int] = [:]
    var waiting: [Waiting] = []
    var deinitDepth = 0
    var problems: [String] = []
  }

  struct Waiting {
    var gate: Gate
    var task: Task<Void, Never>
    var objects: [Int]
  }

  let state: Mutex<State>

  init(seed: UInt64) {
    var random = SplitMix64(state: seed)
    let keyCount = [2, 4, 11, 11, keys.count][random.below(5)]
    state = Mutex(
      State(seed: seed, random: random, keyCount: keyCount, budget: 120))
  }

  func random(_ n: Int) -> Int {
    state.withLock { $0.random.below(n) }
  }

  func randomKey() -> Int { random(state.withLock { $0.keyCount }) }

  /// Take some of what bounds the size of the program.
  func spend() -> Bool {
    state.withLock {
      $0.budget -= 1
      return $0.budget > 0
    }
  }

  func log(_ line: String) {
    state.withLock { $0.log.append(line) }
  }

  func problem(_ text: String) {
    state.withLock {
      $0.log.append("! \(text)")
      $0.problems.append(text)
    }
  }

  func hold(_ objects: [Int]) {
    state.withLock {
      for object in objects { $0.holders[object, default: 0] += 1 }
    }
  }

  func drop(_ objects: [Int]) {
    state.withLock {
      for object in objects {
        $0.holders[object]! -= 1
        if $0.holders[object] == 0 { $0.holders[object] = nil }
      }
    }
  }

  func checkLifetimes(_ place: String) {
    let (alive, expected, isInDeinit) = state.withLock {
      ($0.alive, Set($0.holders.keys), $0.deinitDepth > 0)
    }
    // In a deinit, other objects may be about to follow.
    if !isInDeinit && alive != expected {
      problem(
        "\(place): kept \(alive.subtracting(expected).sorted()), "
          + "lost \(expected.subtracting(alive).sorted())")
    }
  }
}

nonisolated(unsafe) var world: World! = nil

// MARK: - Values

/// A value, or part of one. Writes down when it dies and, if it is noisy, what
/// it sees and does then.
final class Object: Sendable {
  let id: Int
  let isNoisy: Bool

  init(isNoisy: Bool) {
    self.isNoisy = isNoisy
    id = world.state.withLock {
      $0.objectCount += 1
      $0.alive.insert($0.objectCount)
      return $0.objectCount
    }
  }

  deinit {
    world.state.withLock { _ = $0.alive.remove(id) }
    world.log("- \(id)")
    if isNoisy {
      world.state.withLock { $0.deinitDepth += 1 }
      world.log("  sees \(describe(visibleObjects()))")
      runInDeinit()
      world.state.withLock { $0.deinitDepth -= 1 }
    }
  }
}

protocol Holder: Sendable {
  var objects: [Int] { get }
}

struct Pair: Holder {
  let first: Object
  let second: Object
  var objects: [Int] { [first.id, second.id] }
}

/// Does not fit into an inline buffer of an existential.
struct Large: Holder {
  let object: Object
  let padding: (Int, Int, Int, Int, Int, Int, Int, Int)
  let more: InlineArray<150, Int>
  var objects: [Int] {
    padding.7 == object.id && more[149] == object.id ? [object.id] : [-1]
  }
}

struct Aligned: Holder {
  let vector: SIMD4<Float>
  let object: Object
  var objects: [Int] { vector[3] == Float(object.id) ? [object.id] : [-1] }
}

// MARK: - Keys

struct Key: Sendable {
  let push: @Sendable (Bool) -> [Int]
  let read: @Sendable () -> [Int]
}

@_silgen_name("swift_task_localValuePush")
func localValuePush<Value>(_ key: Builtin.RawPointer, _ value: __owned Value)
@_silgen_name("swift_task_localValuePop")
func localValuePop()

func makeKey<Value: Sendable>(
  _ local: TaskLocal<Value?>, _ make: @escaping @Sendable (Bool) -> Value,
  _ objects: @escaping @Sendable (Value) -> [Int]
) -> Key {
  Key(
    push: { noisy in
      // Like withValue, but whoever calls it does not keep the value as well.
      let address = unsafeBitCast(local, to: Builtin.RawPointer.self)
      let value = make(noisy)
      let ids = objects(value)
      localValuePush(address, Optional(value))
      return ids
    },
    read: { local.get().map(objects) ?? [] })
}

/// The keys live for ever, as those in static properties do.
nonisolated(unsafe) var immortal: [AnyObject] = []

let keys: [Key] = {
  func local<Value: Sendable>(_: Value.Type) -> TaskLocal<Value?> {
    let result = TaskLocal<Value?>(wrappedValue: nil)
    immortal.append(result)
    return result
  }
  func object() -> Key {
    makeKey(local(Object.self), { Object(isNoisy: $0) }, { [$0.id] })
  }
  var result = [object(), object()]
  result.append(
    makeKey(
      local(Pair.self),
      { Pair(first: Object(isNoisy: $0), second: Object(isNoisy: false)) },
      { $0.objects }))
  result.append(object())
  result.append(
    makeKey(
      local(Large.self),
      {
        let object = Object(isNoisy: $0)
        return Large(
          object: object, padding: (0, 0, 0, 0, 0, 0, 0, object.id),
          more: InlineArray(repeating: object.id))
      },
      { $0.objects }))
  result.append(
    makeKey(
      local((any Holder).self),
      { Pair(first: Object(isNoisy: false), second: Object(isNoisy: $0)) },
      { $0.objects }))
  result.append(
    makeKey(
      local([Object].self),
      { [Object(isNoisy: $0), Object(isNoisy: false), Object(isNoisy: false)] },
      { $0.map(\.id) }))
  result.append(
    makeKey(
      local(Aligned.self),
      {
        let object = Object(isNoisy: $0)
        return Aligned(vector: SIMD4(repeating: Float(object.id)), object: object)
      },
      { $0.objects }))
  while result.count < 11 { result.append(object()) }
  while result.count < 150 {
    result.append(
      makeKey(local(UInt8.self), { _ in 7 }, { [-Int($0)] }))
    result.append(object())
  }
  return result
}()

/// The objects of each bound key.
typealias Environment = [Int: [Int]]

func visibleObjects() -> Environment {
  var result: Environment = [:]
  for (index, key) in keys.enumerated() {
    let objects = key.read()
    if !objects.isEmpty { result[index] = objects }
  }
  return result
}

func describe(_ environment: Environment) -> String {
  environment.sorted { $0.key < $1.key }
    .map { "\($0.key):\($0.value.map(String.init).joined(separator: "+"))" }
    .joined(separator: " ")
}

func owned(_ environment: Environment) -> [Int] {
  environment.values.flatMap { $0 }.filter { $0 > 0 }
}

func read(_ environment: Environment, _ place: String) {
  let visible = visibleObjects()
  world.log("\(place) sees \(describe(visible))")
  if visible != environment {
    world.problem("\(place): sees \(describe(visible)), "
                    + "expected \(describe(environment))")
  }
  world.checkLifetimes(place)
}

func push(_ environment: Environment) -> (Environment, [Int]) {
  let key = world.randomKey()
  let objects = keys[key].push(world.random(8) == 0)
  world.log("+ \(key):\(objects)")
  let objectsOwned = objects.filter { $0 > 0 }
  world.hold(objectsOwned)
  var environment = environment
  environment[key] = objects
  return (environment, objectsOwned)
}

func pop(_ objects: [Int]) {
  localValuePop()
  world.drop(objects)
  world.checkLifetimes("scope")
}

// These do what withValue does. The compiler must not allocate anything from the
// task between push and pop.

@inline(never)
func bind(
  _ environment: Environment, _ body: (Environment) async -> Void
) async {
  let (inner, objects) = push(environment)
  await body(inner)
  pop(objects)
}

@inline(never)
func bindSync(_ environment: Environment, _ body: (Environment) -> Void) {
  let (inner, objects) = push(environment)
  body(inner)
  pop(objects)
}

// MARK: - Tasks

/// Lets one task wait until another one opens it.
final class Gate: Sendable {
  enum State {
    case closed
    case open
    case waiting(CheckedContinuation<Void, Never>)
  }
  let state = Mutex(State.closed)

  func open() {
    let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
      defer { state = .open }
      if case .waiting(let waiter) = state { return waiter }
      return nil
    }
    waiter?.resume()
  }

  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock {
        if case .open = $0 { return true }
        $0 = .waiting(continuation)
        return false
      }
      if isOpen { continuation.resume() }
    }
  }
}

/// What each task that is created does. It waits in the middle.
func runTask(
  _ environment: Environment, _ depth: Int, _ name: String, ready: Gate?,
  gate: Gate
) async {
  if ready != nil {
    read(environment, name)
    if world.random(2) == 0 { await run(environment, depth + 1) }
  }
  ready?.open()
  await gate.wait()
  read(environment, name)
  if ready != nil && world.random(4) == 0 {
    await run(environment, depth + 1)
    read(environment, name)
  }
}

func addWaiting(_ gate: Gate, _ task: Task<Void, Never>, _ objects: [Int]) {
  world.state.withLock {
    $0.waiting.append(.init(gate: gate, task: task, objects: objects))
  }
}

/// Create a task that nobody has to wait for.
func createTask(_ environment: Environment, _ depth: Int) async {
  let gate = Gate()
  let ready = Gate()
  let task: Task<Void, Never>
  var environment = environment
  switch world.random(8) {
  case 0:
    environment = [:]
    task = Task.detached {
      await runTask([:], depth, "detached", ready: ready, gate: gate)
    }
  case 1, 2:
    world.hold(owned(environment))
    task = Task.immediate { [environment] in
      await runTask(environment, depth, "immediate", ready: ready, gate: gate)
    }
  default:
    world.hold(owned(environment))
    task = Task { [environment] in
      await runTask(environment, depth, "task", ready: ready, gate: gate)
    }
  }
  await ready.wait()
  addWaiting(gate, task, owned(environment))
}

/// The same where the creator cannot wait for it to start.
func createTaskSync(_ environment: Environment) {
  let gate = Gate()
  world.hold(owned(environment))
  let task = Task {
    await runTask(environment, 0, "task", ready: nil, gate: gate)
  }
  addWaiting(gate, task, owned(environment))
}

func finishTask() async {
  let waiting: World.Waiting? = world.state.withLock {
    if $0.waiting.isEmpty { return nil }
    let index = Int($0.random.next() % UInt64($0.waiting.count))
    return $0.waiting.remove(at: index)
  }
  guard let waiting else { return }
  world.log("finish")
  waiting.gate.open()
  await waiting.task.value
  world.drop(waiting.objects)
  world.checkLifetimes("finished")
}

// MARK: - Programs

func run(_ environment: Environment, _ depth: Int) async {
  for _ in 0..<(1 + world.random(5)) {
    guard depth < 14 && world.spend() else { return }
    switch world.random(20) {
    case 0...6:
      await bind(environment) { await run($0, depth + 1) }
    case 7...9:
      await createTask(environment, depth)
    case 10...11:
      await finishTask()
    case 12:
      read(environment, "run")
    case 13...14:
      await runGroup(environment, depth)
    case 15:
      await runDiscardingGroup(environment, depth)
    case 16:
      await runAsyncLet(environment, depth)
    case 17:
      runSync(environment, depth)
    case 18:
      runThread()
    default:
      await runIsolated(environment, depth)
    }
  }
}

struct Child {
  var gate: Gate
  var objects: [Int]
}

func runGroup(_ environment: Environment, _ depth: Int) async {
  world.log("group {")
  await withTaskGroup(of: Void.self) { group in
    var children: [Child] = []
    await runGroupBody(environment, depth, &group, &children)
    while !children.isEmpty { await finishChild(&group, &children) }
  }
  world.log("}")
  world.checkLifetimes("group")
}

func finishChild(
  _ group: inout TaskGroup<Void>, _ children: inout [Child]
) async {
  if children.isEmpty { return }
  let child = children.remove(at: world.random(children.count))
  world.log("finish child")
  child.gate.open()
  await group.next()
  world.drop(child.objects)
  world.checkLifetimes("child")
}

func runGroupBody(
  _ environment: Environment, _ depth: Int, _ group: inout TaskGroup<Void>,
  _ children: inout [Child]
) async {
  for _ in 0..<(1 + world.random(5)) {
    guard depth < 14 && world.spend() else { return }
    switch world.random(12) {
    case 0...3:
      // Children that are created in there are still running when the binding
      // ends.
      await bind(environment) {
        await runGroupBody($0, depth + 1, &group, &children)
      }
    case 4:
      await run(environment, depth + 1)
    case 5:
      await createTask(environment, depth)
    case 6:
      await runAsyncLet(environment, depth)
    case 7:
      await finishTask()
    case 8:
      await finishChild(&group, &children)
    default:
      let child = Child(gate: Gate(), objects: owned(environment))
      let ready = Gate()
      world.hold(child.objects)
      children.append(child)
      group.addTask {
        await runTask(
          environment, depth, "child", ready: ready, gate: child.gate)
      }
      await ready.wait()
    }
  }
}

func runDiscardingGroup(_ environment: Environment, _ depth: Int) async {
  world.log("discarding {")
  let child = Gate()
  var objects: [Int] = []
  await withDiscardingTaskGroup { group in
    await bind(environment) { environment in
      objects = owned(environment)
      world.hold(objects)
      let ready = Gate()
      group.addTask {
        await runTask(environment, depth, "child", ready: ready, gate: child)
      }
      await ready.wait()
      await run(environment, depth + 1)
    }
    read(environment, "body")
    child.open()
  }
  world.drop(objects)
  world.log("}")
  world.checkLifetimes("discarding")
}

func runAsyncLet(_ environment: Environment, _ depth: Int) async {
  world.log("async let {")
  let gate = Gate()
  let ready = Gate()
  async let child: Void = runTask(
    environment, depth, "async let", ready: ready, gate: gate)
  await ready.wait()
  await run(environment, depth + 1)
  gate.open()
  await child
  world.log("}")
  world.checkLifetimes("async let")
}

func runSync(_ environment: Environment, _ depth: Int) {
  for _ in 0..<(1 + world.random(4)) {
    guard depth < 14 && world.spend() else { return }
    switch world.random(4) {
    case 0...1: bindSync(environment) { runSync($0, depth + 1) }
    case 2: createTaskSync(environment)
    default: read(environment, "sync")
    }
  }
}

/// Bind values where there is no task.
func runThread() {
  world.log("thread {")
#if canImport(Darwin) || canImport(Musl)
  var thread: pthread_t? = nil
#else
  var thread = pthread_t()
#endif
  let result = pthread_create(&thread, nil, { _ in
    runSync([:], 10)
    bindSync([:]) { runSync($0, 8) }
    return nil
  }, nil)
  precondition(result == 0)
#if canImport(Darwin) || canImport(Musl)
  pthread_join(thread!, nil)
#else
  pthread_join(thread, nil)
#endif
  world.log("}")
  world.checkLifetimes("thread")
}

@globalActor actor Isolation {
  static let shared = Isolation()
}

/// Has a deinit that starts without any task-local values.
@Isolation final class Isolated {
  let depth: Int
  init(_ depth: Int) { self.depth = depth }
  isolated deinit {
    read([:], "deinit")
    runSync([:], depth)
    world.log("}")
  }
}

@Isolation func runIsolated(_ environment: Environment, _ depth: Int) {
  bindSync(environment) { environment in
    world.log("isolated {")
    _ = Isolated(max(depth, 9))
    read(environment, "isolated")
  }
}

/// What a noisy object does when it dies. The model does not know what is
/// visible then, so ask.
func runInDeinit() {
  if world.random(2) == 0 {
    bindSync(visibleObjects()) { createTaskSync($0) }
  } else {
    createTaskSync(visibleObjects())
  }
}

// MARK: - Main

@main struct Main {
  static func runProgram(seed: UInt64) async -> [String] {
    world = World(seed: seed)
    while world.spend() { await run([:], 0) }
    while world.state.withLock({ !$0.waiting.isEmpty }) { await finishTask() }
    read([:], "end")
    return world.state.withLock { $0.problems }
  }

  static func main() async {
    var arguments = CommandLine.arguments.dropFirst()
    var seeds: ClosedRange<UInt64> = 1...20
    var showsLog = false
    while let argument = arguments.popFirst() {
      let bounds = arguments.first?.split(separator: ":").compactMap { UInt64($0) }
      switch (argument, bounds) {
      case ("--log", _):
        showsLog = true
      case ("--seeds", .some(let bounds)) where bounds.count == 2 && bounds[0] <= bounds[1]:
        seeds = bounds[0]...bounds[1]
        arguments.removeFirst()
      default:
        print("usage: tasklocal-random --seeds FIRST:LAST [--log]")
        exit(2)
      }
    }

    var failed: [UInt64] = []
    for seed in seeds {
      let problems = await runProgram(seed: seed)
      if showsLog || !problems.isEmpty {
        print("seed \(seed)")
        print(world.state.withLock { $0.log.joined(separator: "\n") })
      }
      if !problems.isEmpty { failed.append(seed) }
    }
    if !failed.isEmpty {
      print("failed with seeds \(failed)")
      exit(1)
    }
    print("\(seeds.count) programs did what the model says")
  }
}
