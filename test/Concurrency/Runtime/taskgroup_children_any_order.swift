// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple %import-libdispatch -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// Each child was searched for in the list of all children: the last of 20,000
// took 100 times as long as the first.
// XFAIL: without_taskgroup-detach-child

// The children of a group end in any order, and each costs the same.

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

let count = 20_000

final class Gate: @unchecked Sendable {
  var continuation: UnsafeContinuation<Void, Never>?
}

// One thread makes, ends and collects the children, so that nothing but the
// group is measured.
@globalActor actor Owner { static let shared = Owner() }

@Owner var started = 0

/// The processor time that a group needs to end its children in the given order, in ticks of clock().
@Owner func end(_ order: [Int]) async -> Double {
  let gates = order.map { _ in Gate() }
  started = 0
  return await withTaskGroup(of: Int.self) { @Owner group in
    for (number, gate) in gates.enumerated() {
      group.addTask { @Owner in
        await withUnsafeContinuation {
          gate.continuation = $0
          started += 1
        }
        return number
      }
    }
    while started < gates.count { await Task.yield() }

    let start = clock()
    for number in order { gates[number].continuation!.resume() }
    var sum = 0
    while let number = await group.next() { sum += number }
    let stop = clock()
    if sum != count * (count - 1) / 2 { fatalError("sum \(sum)") }
    return Double(stop - start)
  }
}

@main struct Main {
  static func main() async {
    let forwards = Array(0..<count)
    var generator = SystemRandomNumberGenerator()
    // Processor time: other programs may have the processors.
    var (inOrder, reverse, random) = (Double.infinity, Double.infinity, Double.infinity)
    for _ in 0..<3 {
      inOrder = min(inOrder, await end(forwards))
      reverse = min(reverse, await end(forwards.reversed()))
      random = min(random, await end(forwards.shuffled(using: &generator)))
    }
    // For the header of the patch; `utils/run-test -a` shows it.
    let times = [inOrder, reverse, random].map { $0 * 1e6 / Double(CLOCKS_PER_SEC) / Double(count) }
    fputs("us a child, in order, reverse, random: \(times)\n", stderr)
    // CHECK: reverse: flat
    print("reverse:", reverse < 10 * inOrder ? "flat" : "\(reverse / inOrder)")
    // CHECK: random: flat
    print("random:", random < 15 * inOrder ? "flat" : "\(random / inOrder)")
  }
}
