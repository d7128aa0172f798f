// Measures the rounds: a tree is made, it is copied, and both are dropped.

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif
import Dispatch

struct Round {
  var generate, copy, delete: UInt64
  /// Bytes, while both trees are there.
  var resident: UInt64 = 0
  var virtual: UInt64 = 0
  /// Nanoseconds for which this thread waited for a core.
  var waited: UInt64
}

/// Calls `report` after each round.
func measure<T: Tree & ~Copyable>(_: T.Type, depth: Int, rounds: Int, report: (Round) -> Void) {
  for _ in 0..<rounds {
    let waited = machine_waited()
    let start = machine_now()
    var tree: Box<T>? = Box(T(depth: depth))
    let generated = machine_now()
    var copy: Box<T>? = Box(tree!.tree.copied())
    let copied = machine_now()

    var round = Round(generate: generated - start, copy: copied - generated, delete: 0, waited: 0)
    machine_memory(&round.resident, &round.virtual)
    let count = 1 << depth - 1
    if tree!.tree.sum() != count * (count + 1) / 2 || copy!.tree.sum() != tree!.tree.sum() {
      fail("a tree has lost its values", hint: "this is a fault of the benchmark or of the runtime")
    }

    let complete = machine_now()
    drop(&tree)
    drop(&copy)
    round.delete = machine_now() - complete
    round.waited = machine_waited() - waited
    report(round)
  }
}

/// Returns when the tree is destroyed.
@inline(never)
private func drop<T: Tree & ~Copyable>(_ box: inout Box<T>?) {
  box = nil
  T.waitForDrop()
}

/// Runs `body` on the actor of OneActorTree.
func onFirstActor(_ body: @escaping @FirstTreeActor () -> Void) {
  let done = DispatchSemaphore(value: 0)
  Task.detached { @FirstTreeActor in
    body()
    done.signal()
  }
  done.wait()
}
