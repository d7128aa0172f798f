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
// With assertions the unpatched runtime crashes, too: a task that its cancellation resumes at
// once, on an executor as below, takes away and frees the record that leads to the next one.
// UNSUPPORTED: runtime_debug
// UNSUPPORTED: runtime_before-debug

// All kinds of sleeps: no time, a time that is over, for ever; cancelled before,
// while and after; on the main actor, other actors and executors of the program.

import Dispatch
import Synchronization

let clock = ContinuousClock()

typealias Sleep = @Sendable (Duration) async throws -> Void

func nanoseconds(_ duration: Duration) -> UInt64 {
  let (seconds, attoseconds) = duration.components
  if seconds < 0 || attoseconds < 0 { return 0 }
  return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
}

let kinds: [(String, Sleep)] = [
  ("nanoseconds", { try await Task.sleep(nanoseconds: nanoseconds($0)) }),
  ("for", { try await Task.sleep(for: $0) }),
  ("tolerance", { try await Task.sleep(for: $0, tolerance: .milliseconds(1)) }),
  ("large tolerance",
   { try await Task.sleep(
       for: $0, tolerance: $0 > .zero ? .milliseconds(10) : .seconds(1000)) }),
  ("negative tolerance",
   { try await Task.sleep(for: $0, tolerance: .milliseconds(-1)) }),
  ("until", { try await Task.sleep(until: .now + $0, clock: .suspending) }),
  ("suspending", { try await Task.sleep(for: $0, clock: .suspending) }),
]

func expectCancelled(_ name: String, _ task: Task<Void, Error>) async {
  do {
    try await task.value
    fatalError("\(name) was not cancelled")
  } catch is CancellationError {
  } catch {
    fatalError("\(name) threw \(error)")
  }
}

func check(_ name: String, _ sleep: @escaping Sleep) async throws {
  // As long as it says, and not much longer.
  for milliseconds in [0, 1, 20] {
    let start = clock.now
    try await sleep(.milliseconds(milliseconds))
    let time = clock.now - start
    if time < .milliseconds(milliseconds) || time > .seconds(20) {
      fatalError("\(name) of \(milliseconds) took \(time)")
    }
  }
  let start = clock.now
  try await sleep(.seconds(-1))
  try await sleep(.seconds(-10_000_000_000))
  try await sleep(.nanoseconds(1))
  if clock.now - start > .seconds(20) { fatalError("\(name) waited") }

  // Longer than the clock lasts.
  for duration in [Duration.seconds(200 * 365 * 86400),
                   .nanoseconds(Int64.max), .seconds(18_000_000_000)] {
    let task = Task { try await sleep(duration) }
    try await Task.sleep(nanoseconds: 1_000_000)
    task.cancel()
    await expectCancelled(name, task)
  }

  // Cancelled before.
  for duration in [Duration.zero, .seconds(-1), .seconds(1000)] {
    let task = Task {
      withUnsafeCurrentTask { $0!.cancel() }
      try await sleep(duration)
    }
    await expectCancelled(name, task)
  }
  // Cancelled while: at any time.
  for delay in 0..<200 {
    let task = Task { try await sleep(.seconds(1000)) }
    for _ in 0..<delay { await Task.yield() }
    task.cancel()
    task.cancel()
    await expectCancelled(name, task)
  }
  // Cancelled at the end.
  for _ in 0..<200 {
    let task = Task { try await sleep(.microseconds(100)) }
    try? await Task.sleep(nanoseconds: 100_000)
    task.cancel()
    _ = await task.result
  }
  // Cancelled after.
  let task = Task {
    try await sleep(.milliseconds(1))
    withUnsafeCurrentTask { $0!.cancel() }
  }
  try await task.value
  // In a group that is cancelled.
  await withTaskGroup(of: Void.self) { group in
    for _ in 0..<100 { group.addTask { try? await sleep(.seconds(1000)) } }
    await Task.yield()
    group.cancelAll()
  }
}

@MainActor var flag = false

/// Who waits in a loop of sleeps that are over lets others run.
@MainActor func checkLoops() async throws {
  for (_, sleep) in kinds {
    for duration in [Duration.zero, .seconds(-1), .nanoseconds(1)] {
      flag = false
      Task { flag = true }
      while !flag { try await sleep(duration) }
    }
  }
  flag = false
  Task { flag = true }
  while !flag { await Task.sleep(0) }
}

/// Runs its jobs at once, on the thread that enqueues them.
final class InlineExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
  }
}

/// A queue with its own thread.
final class QueueExecutor: SerialExecutor {
  let queue = DispatchQueue(label: "queue")
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
  func asUnownedSerialExecutor() -> UnownedSerialExecutor { .init(ordinary: self) }
}

actor OnQueue {
  let executor = QueueExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }
  func sleep(_ sleep: Sleep) async throws {
    try await sleep(.milliseconds(2))
    dispatchPrecondition(condition: .onQueue(executor.queue))
    await Task.sleep(2_000_000)
    dispatchPrecondition(condition: .onQueue(executor.queue))
  }
}

/// A task that blocks the thread that wakes it keeps no other one asleep.
func checkBlocking() async throws {
  let executor = InlineExecutor()
  let blocked = Atomic<Int>(0)
  let go = DispatchSemaphore(value: 0)
  let deadline = clock.now + .milliseconds(20)
  let blocking = Task(executorPreference: executor) {
    try await Task.sleep(until: deadline, clock: clock)
    blocked.store(1, ordering: .releasing)
    go.wait()
  }
  let others = (0..<100).map { number in
    Task {
      try await Task.sleep(
        until: deadline + .microseconds(number * 300 - 100), clock: clock)
    }
  }
  for other in others { try await other.value }
  while blocked.load(ordering: .acquiring) == 0 { await Task.yield() }
  try await Task.sleep(for: .milliseconds(10))
  go.signal()
  try await blocking.value
}

@main struct Main {
  static func main() async throws {
    for (name, sleep) in kinds {
      try await check(name, sleep)
      try await Task { @MainActor in try await check(name, sleep) }.value
      try await Task(executorPreference: InlineExecutor()) {
        try await check(name, sleep)
      }.value
      try await OnQueue().sleep(sleep)
    }
    // CHECK: kinds
    print("kinds")

    // Cancelled before: nobody looks at a time that is too long for the clock.
    let far = Duration(secondsComponent: Int64.max, attosecondsComponent: 0)
    await expectCancelled("far", Task {
      withUnsafeCurrentTask { $0!.cancel() }
      try await Task.sleep(for: far)
    })
    await expectCancelled("far tolerance", Task {
      withUnsafeCurrentTask { $0!.cancel() }
      try await Task.sleep(for: .milliseconds(1), tolerance: far + far)
    })
    // CHECK-NEXT: far
    print("far")

    // The deprecated one can't be cancelled.
    let start = clock.now
    let task = Task { await Task.sleep(20_000_000) }
    task.cancel()
    await task.value
    if clock.now - start < .milliseconds(20) { fatalError("too early") }
    // CHECK-NEXT: deprecated
    print("deprecated")

    try await checkLoops()
    // CHECK-NEXT: loops
    print("loops")

    try await checkBlocking()
    // CHECK-NEXT: blocking
    print("blocking")
  }
}
