// RUN: %target-run-simple-swift( -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// Without the patch all values are copied into every task.
// XFAIL: without_tasklocal-map
// Sanitizers take memory of their own for each allocation.
// UNSUPPORTED: asan, tsan

// Tasks that inherit the same bindings share them: neither do they hold a
// reference to each value, nor do they take memory for each.

import Glibc
import Synchronization

final class Value: Sendable {}

let keys: [TaskLocal<Value?>] = (0..<100).map { _ in TaskLocal(wrappedValue: nil) }

func bind(_ value: Value, from first: Int = 0, _ body: () async -> Void) async {
  if first == keys.count { return await body() }
  await keys[first].withValue(value) {
    await bind(value, from: first + 1, body)
  }
}

/// Memory in use, in bytes.
func residentSize() -> Int {
  let file = fopen("/proc/self/statm", "r")!
  defer { fclose(file) }
  var buffer = [CChar](repeating: 0, count: 128)
  fgets(&buffer, 128, file)
  let pages = String(cString: buffer).split(separator: " ")[1]
  return Int(pages)! * Int(sysconf(Int32(_SC_PAGESIZE)))
}

/// Tasks that wait until all are resumed.
final class WaitingTasks: Sendable {
  let waiters = Mutex<[CheckedContinuation<Void, Never>]>([])
  let tasks = Mutex<[Task<Void, Never>]>([])

  func create(_ count: Int) async {
    waiters.withLock { $0.reserveCapacity(count) }
    tasks.withLock { $0.reserveCapacity(count) }
    for _ in 0..<count {
      let task = Task {
        await withCheckedContinuation { waiter in
          waiters.withLock { $0.append(waiter) }
        }
      }
      tasks.withLock { $0.append(task) }
    }
    while waiters.withLock({ $0.count }) < count { await Task.yield() }
  }

  func finish() async {
    for waiter in waiters.withLock({ $0 }) { waiter.resume() }
    for task in tasks.withLock({ $0 }) { await task.value }
  }
}

@main struct Main {
  static func main() async {
    let value = Value()

    // The first eight tasks have copies. All others share bindings that have one reference
    // each, however many tasks there are.
    await bind(value) {
      let few = WaitingTasks()
      let before = _getRetainCount(value)
      await few.create(500)
      let more = _getRetainCount(value) - before
      print("\(more <= 9 * keys.count ? "at most 900" : "\(more)") references more")
      // CHECK: at most 900 references more
      await few.finish()
    }

    let count = 50_000
    let unbound = WaitingTasks()
    let bound = WaitingTasks()
    let size0 = residentSize()
    await unbound.create(count)
    let size1 = residentSize()
    await bind(value) { await bound.create(count) }
    let size2 = residentSize()
    // What is left of the first part can hide some of the cost.
    let extra = ((size2 - size1) - (size1 - size0)) / count
    print("a task takes \(extra <= 64 ? "at most 64" : "\(extra)") bytes more")
    // CHECK: a task takes at most 64 bytes more
    await unbound.finish()
    await bound.finish()
  }
}
