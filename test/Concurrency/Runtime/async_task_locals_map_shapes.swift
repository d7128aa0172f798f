// RUN: %empty-directory(%t)
// RUN: %target-build-swift -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %s %S/Inputs/CountedTaskLocals.swift -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// Tasks under every mix of bindings that are old, new and replaced, before and after the old
// ones get a map: each sees the newest value of each key, and a replaced value dies with its
// scope, even while the tasks wait.

import Synchronization

let keys = makeKeys(140)

func numbered(_ range: Range<Int>, plus: Int) -> Bindings {
  range.map { (keys[$0], $0 + plus) }[...]
}

func seen() -> [Int] { keys.map { $0.get()?.number ?? -1 } }

func expected(_ ranges: [(Range<Int>, Int)]) -> [Int] {
  var numbers = [Int](repeating: -1, count: keys.count)
  for (range, plus) in ranges {
    for i in range { numbers[i] = i + plus }
  }
  return numbers
}

/// Tasks that look at what they see when the gate opens.
actor Gate {
  var isOpen = false
  var waiters: [CheckedContinuation<Void, Never>] = []
  func pass() async {
    if isOpen { return }
    await withCheckedContinuation { waiters.append($0) }
  }
  func open() {
    isOpen = true
    for waiter in waiters { waiter.resume() }
    waiters = []
  }
}

@main struct Main {
  static func test(old: Int, new: Range<Int>, times: Int) async -> Bool {
    let gate = Gate()
    var tasks: [Task<Bool, Never>] = []
    let wanted = expected([(0..<old, 1000), (new, 2000)])
    bind(numbered(0..<old, plus: 1000)) {
      for _ in 0..<times {
        bind(numbered(new, plus: 2000)) {
          tasks.append(Task {
            await gate.pass()
            guard seen() == wanted else { return false }
            // What it has inherited is inherited again, and replaced.
            let inner = expected([(0..<old, 1000), (new, 2000), (0..<7, 3000)])
            for _ in 0..<3 {
              var task: Task<Bool, Never>?
              bind(numbered(0..<7, plus: 3000)) { task = Task { seen() == inner } }
              guard await task!.value else { return false }
            }
            return await Task { seen() == wanted }.value
          })
        }
      }
    }
    // No task sees more than that; those that share see the same object. The old values that
    // all of them replace have died with their scope.
    let visible = wanted.count { $0 >= 2000 } * times + wanted.count { 1000..<2000 ~= $0 }
    let isExact = alive.load(ordering: .relaxed) <= visible
    await gate.open()
    var isRight = isExact
    for task in tasks where await !task.value { isRight = false }
    return isRight
  }

  static func testGroup(old: Int, body: Range<Int>, new: Range<Int>, times: Int) async -> Bool {
    var isRight = true
    let wanted = expected([(0..<old, 1000), (body, 2000), (new, 3000)])
    var outer: Task<Bool, Never>!
    bind(numbered(0..<old, plus: 1000)) {
      outer = Task {
        await withTaskGroup(of: Bool.self) { group in
          bind(numbered(body, plus: 2000)) {
            for _ in 0..<times {
              bind(numbered(new, plus: 3000)) {
                group.addTask {
                  guard seen() == wanted else { return false }
                  return await Task { seen() == wanted }.value
                }
              }
            }
          }
          return await group.reduce(true) { $0 && $1 }
        }
      }
    }
    if await !outer.value { isRight = false }
    return isRight
  }

  static func main() async {
    var wrong = 0
    for old in [0, 1, 4, 5, 8, 16, 17, 100] {
      for new in [0..<0, 0..<1, 0..<5, 3..<16, 0..<64, 99..<101, 120..<121, 120..<140] {
        for times in [1, 8, 9, 12] {
          if await !test(old: old, new: new, times: times) {
            print("wrong: \(old) old, \(new) new, \(times) times")
            wrong += 1
          }
        }
        for body in [0..<5, 90..<120, 20..<120] {
          if await !testGroup(old: old, body: body, new: new, times: 12) {
            print("wrong: \(old) old, \(body) in the body, \(new) new")
            wrong += 1
          }
        }
      }
    }
    print("\(wrong) wrong")
    // CHECK: {{^0 wrong}}
    print("\(alive.load(ordering: .relaxed)) alive")
    // CHECK: {{^0 alive}}
  }
}
