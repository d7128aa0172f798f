// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -target %target-future-triple -parse-as-library %import-libdispatch %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// With ThreadSanitizer, more than an eighth of all may wait if there are 1,000 tasks for each block. With chaos they take
// minutes.
// RUN: env %env-SWIFT_POOL=0 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out %if tsan || runtime_chaos %{slow%} | %FileCheck --check-prefixes=CHECK%if !without_executor-dispatch %{,BLOCK%} %s
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out %if tsan || runtime_chaos %{slow%} | %FileCheck --check-prefixes=CHECK%if !without_executor-dispatch %{,BLOCK%} %s
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out %if tsan || runtime_chaos %{slow%} | %FileCheck --check-prefixes=CHECK%if !without_executor-dispatch %{,BLOCK%} %s

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu

// A task that makes many others and then waits, again and again, does not outrun them, however it is resumed: what it
// made runs before it makes more. And such tasks take turns.

import Dispatch
import Glibc
import Synchronization

@MainActor func onMain() {}

func now() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

/// The nanoseconds that the threads of this process have had.
func processorTime() -> UInt64 { UInt64(clock()) * 1000 }

/// Prints whether more than an eighth of all tasks wait at once while one makes `count` of them, `rounds` times.
func judge(_ name: String, _ count: Int, rounds: Int, work: UInt64, _ pause: @Sendable () async -> Void) async {
  let ran = Atomic(0)
  var most = 0
  for round in 1...rounds {
    for _ in 0..<count {
      Task.detached {
        let end = now() + work
        while work > 0 && now() < end {}
        ran.add(1, ordering: .relaxed)
      }
    }
    most = max(most, round * count - ran.load(ordering: .relaxed))
    await pause()
  }
  while ran.load(ordering: .relaxed) < rounds * count { await Task.yield() }
  print(name, most <= rounds * count / 8 ? "few wait" : "\(most) wait of \(rounds * count)")
}

@main struct Main {
  static func main() async {
    let isSlow = CommandLine.arguments.count > 1
    await Task.detached {
      // CHECK: yield: few wait
      await judge("yield:", 1000, rounds: 500, work: 0) { await Task.yield() }
      // CHECK-NEXT: main actor: few wait
      await judge("main actor:", 100, rounds: 2000, work: 5000) { await onMain() }
      // CHECK-NEXT: sleep: few wait
      await judge("sleep:", 100, rounds: 2000, work: 5000) { try? await Task.sleep(nanoseconds: 1000) }
      // Until executor-dispatch, blocks have threads of their own, and each of them resumes the task on another one.
      // CHECK-NEXT: block:
      // BLOCK-SAME: few wait
      await judge("block:", isSlow ? 300 : 1000, rounds: 1000, work: 0) {
        await withUnsafeContinuation { continuation in DispatchQueue.global().async { continuation.resume() } }
      }
    }.value

    // The children of each are more than there is room for in a list. The time is that of the processors.
    var longest: [UInt64] = []
    repeat { longest.append(await groups()) } while longest.last! >= 100_000_000 && !isSlow && longest.count < 3
    // CHECK-NEXT: groups: the oldest one soon has its turn
    print("groups:", longest.last! < 100_000_000 || isSlow ? "the oldest one soon has its turn" : "\(longest) ns")
    print("the longest round takes \(longest.last! / 1000) us")
  }

  /// Returns the time of the longest round of eight that each have group after group.
  static func groups() async -> UInt64 {
    let rounds = (0..<8).map { _ in Counter() }, longest = Atomic<UInt64>(0)
    let end = now() + 1_000_000_000
    await withTaskGroup(of: Void.self) { group in
      for own in rounds {
        group.addTask {
          while now() < end {
            let begin = processorTime()
            await withTaskGroup(of: Void.self) { children in
              for _ in 0..<300 { children.addTask {} }
            }
            longest.max(processorTime() - begin, ordering: .relaxed)
            own.value.add(1, ordering: .relaxed)
          }
        }
      }
    }
    let counts = rounds.map { $0.value.load(ordering: .relaxed) }
    if counts.min()! * 10 < counts.max()! { print("rounds: \(counts)") }
    return longest.load(ordering: .relaxed)
  }
}

final class Counter: Sendable { let value = Atomic(0) }
