// RUN: %empty-directory(%t)
// RUN: %target-build-swift -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %s %S/Inputs/CountedTaskLocals.swift -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// Many child tasks create tasks at the same time, from the same bindings of
// their parent: some from those alone, some after a binding of their own, which
// may shadow one of the parent. All see the right values, and in the end no
// value is alive.

import Synchronization

/// More keys than fit into one block, or have different hashes.
let keys = makeKeys(90)

func check(_ expected: [Int: Int], _ place: String) {
  for (index, key) in keys.enumerated() {
    let number = key.get()?.number
    if number != expected[index] {
      fatalError("\(place): key \(index) is \(String(describing: number)), "
                   + "expected \(String(describing: expected[index]))")
    }
  }
}

func numbers(_ count: Int, _ base: Int) -> [Int: Int] {
  Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, base + $0) })
}

actor Tasks {
  var tasks: [Task<Void, Never>] = []
  func add(_ task: Task<Void, Never>) { tasks.append(task) }
  func wait() async {
    for task in tasks { await task.value }
  }
}

func runChild(_ number: Int, _ expected: [Int: Int], _ tasks: Tasks) async {
  check(expected, "child")
  for i in 0..<6 {
    await tasks.add(Task { check(expected, "task") })
    // The parent has bound key 0, and key 89 in some rounds.
    let key = (number + i) % 2 == 0 ? 0 : 89
    await keys[key].withValue(Value(-number)) {
      let expected = expected.merging([key: -number]) { $1 }
      await tasks.add(Task { check(expected, "task after binding") })
      async let nested: Void = check(expected, "async let")
      await nested
      await withTaskGroup(of: Void.self) { group in
        keys[1].withValue(Value(-100)) {
          let expected = expected.merging([1: -100]) { $1 }
          group.addTask {
            check(expected, "nested child")
            await tasks.add(Task { check(expected, "task of nested child") })
          }
        }
      }
    }
  }
}

/// A parent with many bindings, and children that run at the same time.
func runParent(_ round: Int) async {
  let base = round * 1000
  let count = [1, 5, 30, 90][round % 4]
  let expected = numbers(count, base)
  let tasks = Tasks()
  await bind((0..<count).map { (keys[$0], base + $0) }[...]) {
    await withTaskGroup(of: Void.self) { group in
      for child in 0..<8 {
        if child % 2 == 0 {
          group.addTask { await runChild(child, expected, tasks) }
          continue
        }
        // The binding ends before the child does.
        keys[2].withValue(Value(-child)) {
          let expected = expected.merging([2: -child]) { $1 }
          group.addTask { await runChild(child, expected, tasks) }
        }
      }
    }
  }
  await tasks.wait()
}

@main struct Main {
  static func main() async {
    for round in 0..<200 { await runParent(round) }
    // CHECK: alive: 0
    print("alive: \(alive.load(ordering: .relaxed))")
  }
}
