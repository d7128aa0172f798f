// RUN: %empty-directory(%t)
// RUN: %target-build-swift -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %s %S/Inputs/CountedTaskLocals.swift -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// The children of a group whose body binds many keys: the first ones get copies, the others
// share a map. All of them see the same, also the tasks that they make, and no value lives on.

import Synchronization

let keys = makeKeys(300)

/// Each key of a list, and the number of its place.
func places(_ list: [Int]) -> Bindings {
  list.enumerated().map { (keys[$0.element], $0.offset) }[...]
}

/// What is bound to the keys if `outside` is bound and then `inside`.
func expected(_ outside: [Int], _ inside: [Int]) -> [Int?] {
  var numbers = [Int?](repeating: nil, count: keys.count)
  for list in [outside, inside] {
    for (place, key) in list.enumerated() { numbers[key] = place }
  }
  return numbers
}

func seen() -> [Int?] { keys.map { $0.get()?.number } }

@main struct Main {
  static func test(_ name: String, outside: [Int], inside: [Int], children: Int) async {
    let wanted = expected(outside, inside)
    let right = Atomic<Int>(0)
    await bind(places(outside)) {
      await withTaskGroup(of: Void.self) { group in
        bind(places(inside)) {
          for number in 0..<children {
            // A task takes a map of the same bindings, before or between the children.
            let task = number % 4 == 3 ? Task { seen() == wanted } : nil
            group.addTask {
              // The binding has gone.
              for _ in 0..<number { await Task.yield() }
              if seen() == wanted { right.add(1, ordering: .relaxed) }
              if await Task(operation: { seen() }).value == wanted,
                await task?.value ?? true {
                right.add(1, ordering: .relaxed)
              }
            }
          }
        }
      }
    }
    for _ in 0..<100_000 where alive.load(ordering: .relaxed) != 0 { await Task.yield() }
    let left = alive.load(ordering: .relaxed), count = right.load(ordering: .relaxed)
    if left != 0 || count != 2 * children {
      print("WRONG: \(name), \(children) children: \(count) right, \(left) values left")
    }
  }

  static func main() async {
    for outer in [0, 1, 8, 100] {
      for inner in [1, 16, 17, 20, 64, 65, 100] {
        for children in [1, 2, 3, 4, 5, 20] {
          let outside = Array(0..<outer)
          let fresh = Array(150..<150 + inner)
          await test("\(outer) and \(inner)", outside: outside, inside: fresh,
                     children: children)
          await test("\(outer) and \(inner) twice", outside: outside,
                     inside: fresh + fresh.reversed(), children: children)
          await test("\(outer) and \(inner) again", outside: outside,
                     inside: Array(0..<inner), children: children)
        }
      }
    }
    print("done")
  }
}

// CHECK-NOT: WRONG
// CHECK: done
