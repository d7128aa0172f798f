// RUN: %empty-directory(%t)
// RUN: %target-build-swift %import-libdispatch -parse-as-library %s %S/Inputs/TraceCounters.swift -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_TRACE=%t/trace %target-run %t/a.out
// RUN: %{python} %S/Inputs/dump_trace.py %t/trace > %t/events
// RUN: %{python} %S/Inputs/check_trace.py 10000 < %t/events | %FileCheck %s
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_TRACE=%t/trace %target-run %t/a.out
// RUN: %{python} %S/Inputs/dump_trace.py %t/trace > %t/events
// RUN: %{python} %S/Inputs/check_trace.py 10000 < %t/events | %FileCheck %s

// CHECK: as it must be

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// XFAIL: without_tracing-recorder

// Of 10,000 tasks that wait for each other in all ways at once, each has the life
// that a task must have: created once, enqueued before each run, resumed as often as
// it waits, destroyed once after its last run.

import Glibc

actor Counter {
  var count = 0
  func add(_ x: Int) { count &+= x }
}
@MainActor var onMain = 0
@MainActor func addOnMain() { onMain += 1 }

func leaf(_ i: Int) async -> Int {
  if i % 3 == 0 { await Task.yield() }
  return i
}

// Four tasks: this one, two async lets and one without a parent.
func work(_ i: Int, _ counter: Counter) async -> Int {
  async let x = leaf(i), y = leaf(i + 1)
  let other = Task { await leaf(i + 2) }
  if i % 5 == 0 { other.cancel() }
  if i % 7 == 0 { try? await Task.sleep(nanoseconds: 1000) }
  await counter.add(i)
  if i % 11 == 0 { await addOnMain() }
  return await x + y + other.value
}

@main struct Main {
  static func main() async {
    let counter = Counter()
    for _ in 0..<25 {
      await withTaskGroup(of: Int.self) { group in
        for i in 0..<100 { group.addTask { await work(i, counter) } }
        for await _ in group {}
      }
    }
    // A task is destroyed by the thread that ran it, after the one that waited goes on.
    waitForTasks()
  }
}
