// RUN: %empty-directory(%t)
// RUN: %target-build-swift -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch %s %S/../../programs/Inputs/SplitMix64.swift -o %t/keys
// RUN: %target-codesign %t/keys
// RUN: %target-run %t/keys | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// New tasks copy the newest binding of each key, whether there are few keys or
// many, and keep alive what they copied and nothing else. Bindings are random,
// and a model says what is visible.

import Dispatch
import Synchronization

// MARK: - Values that are counted, and the model

/// Identifiers of the values that exist.
let alive = Mutex<Set<Int>>([])

final class Value: Sendable {
  let id: Int

  init(_ id: Int) {
    self.id = id
    alive.withLock { _ = $0.insert(id) }
  }

  deinit {
    alive.withLock { _ = $0.remove(id) }
  }
}

let keys = (0..<1000).map { _ in TaskLocal<Value?>(wrappedValue: nil) }

/// The identifiers bound to the keys, by the index of the key; no entry: nil.
typealias Visible = [Int: Int]

func visible() -> Visible {
  var result: Visible = [:]
  for (index, key) in keys.enumerated() {
    if let value = key.get() { result[index] = value.id }
  }
  return result
}

func expect<T: Equatable>(
  _ found: T, _ expected: T, _ what: String, line: Int = #line
) {
  if found != expected {
    fatalError("line \(line): \(what): found \(found), expected \(expected)")
  }
}

func expectAlive(_ expected: some Sequence<Int>, _ what: String, line: Int = #line) {
  expect(alive.withLock { $0 }, Set(expected), what, line: line)
}

// MARK: - Random bindings

extension SplitMix64: RandomNumberGenerator {}

/// Bindings from the outermost to the innermost.
typealias Bindings = ArraySlice<(key: Int, id: Int)>

/// Bindings of `count` keys, of which some are bound again and again.
func randomBindings(_ count: Int, from firstID: Int, _ random: inout SplitMix64) -> Bindings {
  let chosen = keys.indices.shuffled(using: &random).prefix(count)
  var order = Array(chosen)
  for _ in 0..<(count == 0 ? 0 : Int.random(in: 0...(count / 2 + 3), using: &random)) {
    order.append(chosen.randomElement(using: &random)!)
  }
  order.shuffle(using: &random)
  return order.enumerated().map { (key: $1, id: firstID + $0) }[...]
}

func model(_ bindings: Bindings...) -> Visible {
  var result: Visible = [:]
  for (key, id) in bindings.joined() { result[key] = id }
  return result
}

func bind<R>(_ bindings: Bindings, _ body: () throws -> R) rethrows -> R {
  guard let (key, id) = bindings.first else { return try body() }
  return try keys[key].withValue(Value(id)) { try bind(bindings.dropFirst(), body) }
}

func bind<R>(
  _ bindings: Bindings, isolation: isolated (any Actor)? = #isolation,
  _ body: () async throws -> R
) async rethrows -> R {
  guard let (key, id) = bindings.first else { return try await body() }
  return try await keys[key].withValue(Value(id)) {
    try await bind(bindings.dropFirst(), isolation: isolation, body)
  }
}

/// What tasks wait for until the bindings around them are gone.
final class Gate: Sendable {
  private let state = Mutex<(open: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

  func wait() async {
    await withCheckedContinuation { continuation in
      let open = state.withLock {
        if !$0.open { $0.waiting.append(continuation) }
        return $0.open
      }
      if open { continuation.resume() }
    }
  }

  func open() {
    let waiting = state.withLock {
      $0.open = true
      return $0.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}

// MARK: - The cases

/// Tasks that outlive the bindings that they copied.
func testTasks(_ count: Int, _ random: inout SplitMix64) async {
  let bindings = randomBindings(count, from: 0, &random)
  let expected = model(bindings)
  let gate = Gate()
  let tasks = bind(bindings) {
    expect(visible(), expected, "bound")
    return (0..<2).map { _ in
      Task {
        await gate.wait()
        // A copy of the copy.
        let again = await Task { visible() }.value
        expect(again, expected, "in a task of a task")
        return visible()
      }
    }
  }
  expect(visible(), [:], "after the bindings")
  expectAlive(expected.values, "held by tasks")
  gate.open()
  for task in tasks { expect(await task.value, expected, "in a task") }
  expectAlive([], "after tasks")
}

func testDetached(_ count: Int, _ random: inout SplitMix64) async {
  let bindings = randomBindings(count, from: 0, &random)
  let gate = Gate()
  let task = bind(bindings) {
    Task.detached {
      await gate.wait()
      return visible()
    }
  }
  expectAlive([], "held by a detached task")
  gate.open()
  expect(await task.value, [:], "in a detached task")
}

/// Children copy what is bound inside the group's body, and see the rest in
/// their parent.
func testGroup(_ count: Int, _ random: inout SplitMix64) async {
  let outer = randomBindings(min(count, 20), from: 0, &random)
  let inner = randomBindings(count, from: 10_000, &random)
  let innermost = randomBindings(count / 2, from: 20_000, &random)
  let gate = Gate()
  await bind(outer) {
    await withTaskGroup(of: (Visible, Visible).self) { group in
      bind(inner) {
        group.addTask {
          await gate.wait()
          return (visible(), model(outer, inner))
        }
        bind(innermost) {
          group.addTask {
            await gate.wait()
            async let child = visible()
            expect(await child, model(outer, inner, innermost), "in a child of a child")
            return (visible(), model(outer, inner, innermost))
          }
        }
      }
      expect(visible(), model(outer), "in the body")
      let held = [model(inner), model(inner, innermost)].flatMap(\.values)
      expectAlive(Set(outer.map(\.id)).union(held), "held by children")
      gate.open()
      for await (found, expected) in group { expect(found, expected, "in a child") }
    }
    expectAlive(outer.map(\.id), "after the group")
  }
  expectAlive([], "after the outer bindings")
}

/// A deinit that runs in place hides the bindings behind a marker.
@MainActor
final class Hiding {
  static var tasks: [Task<Visible, Never>] = []
  let bindings: Bindings
  let child: Bindings?

  init(_ bindings: Bindings, child: Bindings? = nil) {
    self.bindings = bindings
    self.child = child
  }

  isolated deinit {
    expect(visible(), [:], "in a deinit")
    Hiding.tasks.append(Task { visible() })
    bind(bindings) {
      Hiding.tasks.append(Task { visible() })
      if let child {
        do { _ = Hiding(child) }
        Hiding.tasks.append(Task { visible() })
      }
    }
  }
}

@MainActor
func testMarkers(_ count: Int, _ random: inout SplitMix64) async {
  let outer = randomBindings(count, from: 0, &random)
  let first = randomBindings(count, from: 10_000, &random)
  let second = randomBindings(min(count, 9), from: 20_000, &random)
  bind(outer) {
    do { _ = Hiding(first, child: second) }
    expect(visible(), model(outer), "after a deinit")
    Hiding.tasks.append(Task { visible() })
  }
  let expected = [[:], model(first), [:], model(second), model(first), model(outer)]
  for (task, expected) in zip(Hiding.tasks, expected) {
    expect(await task.value, expected, "in a task of a deinit")
  }
  expect(Hiding.tasks.count, expected.count, "tasks")
  Hiding.tasks = []
  expectAlive([], "after the deinits")
}

@main
struct Main {
  static func main() async {
    for count in [0, 1, 2, 7, 8, 9, 10, 63, 64, 65, 112, 113, 1000] {
      for seed in 1...(count > 100 ? 2 : 10) {
        var random = SplitMix64(state: UInt64(count * 1000 + seed))
        await testTasks(count, &random)
        await testDetached(count, &random)
        await testGroup(count, &random)
        await testMarkers(count, &random)
      }
      print("\(count) keys")
    }
    // CHECK: 1000 keys
    // CHECK-NEXT: done
    print("done")
  }
}
