// RUN: %target-run-simple-swift( -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// Isolated deinits that release further objects of the same actor, of other
// actors and of the main actor, and actors that are destroyed on the way. All
// run on their own executor, and none sees task-local values.

import Dispatch
import Synchronization

enum Local {
  @TaskLocal static var value = 0
}

@globalActor actor First { static let shared = First() }
@globalActor actor Second { static let shared = Second() }

let wrong = Atomic<Int>(0)
let count = Atomic<Int>(0)

func check(_ condition: Bool) {
  if !condition { wrong.add(1, ordering: .relaxed) }
}

func ran() {
  check(Local.value == 0)
  count.add(1, ordering: .relaxed)
}

class Node: @unchecked Sendable {
  let children: [AnyObject]
  init(_ children: [AnyObject]) { self.children = children }
}

@First final class OnFirst {
  nonisolated let node: Node
  nonisolated init(_ children: [AnyObject]) { node = Node(children) }
  isolated deinit {
    First.shared.preconditionIsolated()
    ran()
    Local.$value.withValue(1) { check(Local.value == 1) }
  }
}

@Second final class OnSecond {
  nonisolated let node: Node
  nonisolated init(_ children: [AnyObject]) { node = Node(children) }
  isolated deinit {
    Second.shared.preconditionIsolated()
    ran()
  }
}

@MainActor final class OnMain {
  nonisolated let node: Node
  nonisolated init(_ children: [AnyObject]) { node = Node(children) }
  isolated deinit {
    MainActor.shared.preconditionIsolated()
    ran()
  }
}

actor Own {
  nonisolated let node: Node
  init(_ children: [AnyObject]) { node = Node(children) }
  isolated deinit {
    preconditionIsolated()
    ran()
  }
}

/// Isolated to the actor that it keeps alive: the last one destroys the actor,
/// in the middle of its jobs.
actor Proxy {
  nonisolated let target: Own
  init(_ target: Own) { self.target = target }
  nonisolated var unownedExecutor: UnownedSerialExecutor { target.unownedExecutor }
  isolated deinit {
    target.preconditionIsolated()
    ran()
  }
}

func tree(_ depth: Int, _ seed: Int, _ total: inout Int) -> AnyObject {
  total += 1
  if depth == 0 { return OnFirst([]) }
  let children = (0..<3).map { tree(depth - 1, seed &* 31 &+ $0 &* 7 &+ depth, &total) }
  switch (seed &* 2654435761 >> 7) & 7 {
  case 0, 1, 2: return OnFirst(children)
  case 3, 4: return OnSecond(children)
  case 5: return OnMain(children)
  case 6: return Own(children)
  default:
    total += 3
    let own = Own(children)
    let proxies = [Proxy(own), Proxy(own)]
    return OnSecond(proxies)
  }
}

@main struct Main {
  static func main() async {
    for seed in 0..<40 {
      var total = 0
      var root: AnyObject? = tree(6, seed, &total)
      count.store(0, ordering: .relaxed)
      Local.$value.withValue(42) {
        root = nil
        check(Local.value == 42)
      }
      _ = root
      for _ in 0..<20_000 where count.load(ordering: .relaxed) < total {
        try? await Task.sleep(nanoseconds: 500_000)
      }
      check(count.load(ordering: .relaxed) == total)
    }
    print("wrong:", wrong.load(ordering: .relaxed))
  }
}

// CHECK: wrong: 0
