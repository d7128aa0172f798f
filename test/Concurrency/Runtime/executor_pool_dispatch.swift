// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -target %target-future-triple -parse-as-library %import-libdispatch %s %S/Inputs/ThreadName.swift -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out pool
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out pool
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=9 %target-run %t/a.out pool
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu
// XFAIL: without_executor-dispatch

// Blocks of Dispatch's global queues and tasks run on one set of threads. Whatever they do, all
// of them run: in every class, in chains, while others block, and beside tasks that never end.

import Dispatch
import Glibc
import Synchronization

let hasPool = CommandLine.arguments.contains("pool")

final class Count: Sendable {
  private let number = Atomic(0)
  func add() { number.add(1, ordering: .releasing) }
  var value: Int { number.load(ordering: .acquiring) }
}

let classes: [DispatchQoS.QoSClass] = [.background, .utility, .default, .userInitiated, .userInteractive]

/// A block of the first thread: a thread that Dispatch made for it would have that one's name.
func runFirst() {
  let isDone = DispatchSemaphore(value: 0)
  DispatchQueue.global().async {
    precondition(threadName().hasPrefix("swift-pool-") == hasPool)
    isDone.signal()
  }
  isDone.wait()
}

/// A block of each class, from a thread, a task and another block.
func runEverywhere() async {
  for qos in classes {
    let queue = DispatchQueue.global(qos: qos)
    let check: @Sendable () -> Void = {
      precondition(!hasPool || threadName().hasPrefix("swift-pool-"))
      dispatchPrecondition(condition: .onQueue(queue))
    }
    await withUnsafeContinuation { own in
      queue.async {
        check()
        queue.async {
          check()
          own.resume()
        }
      }
    }
    // It is not on that queue any more.
    if hasPool { dispatchPrecondition(condition: .notOnQueue(queue)) }
  }
}

@_silgen_name("dispatch_queue_get_label") func labelOfQueue(_ queue: UnsafeRawPointer?) -> UnsafePointer<CChar>

/// What a task of the default priority sees of Dispatch, as docs/pool.md says.
func runInTask() async {
  await Task.detached(priority: .medium) {
    let label = String(cString: labelOfQueue(nil))
    precondition(label == (hasPool ? "com.apple.root.default-qos.overcommit" : "Swift global concurrent queue"), label)
    dispatchPrecondition(condition: hasPool ? .notOnQueue(.global()) : .onQueue(.global()))
    dispatchPrecondition(condition: .notOnQueue(.main))
    await MainActor.run { dispatchPrecondition(condition: .onQueue(.main)) }
  }.value
}

/// Each block of a chain resumes a task, which adds the next one.
func runChains() async {
  await withTaskGroup(of: Void.self) { group in
    for number in 0..<20 {
      group.addTask {
        let queue = number % 2 == 0 ? DispatchQueue.global() : DispatchQueue(label: "serial")
        for _ in 0..<1000 {
          await withUnsafeContinuation { own in queue.async { own.resume() } }
        }
      }
    }
  }
}

/// All blocks wait for one that comes last.
func runBlocked() async {
  let start = DispatchSemaphore(value: 0), group = DispatchGroup(), count = Count()
  for _ in 0..<40 {
    DispatchQueue.global().async(group: group) {
      start.wait()
      count.add()
    }
  }
  DispatchQueue.global().async(group: group) { for _ in 0..<40 { start.signal() } }
  await withUnsafeContinuation { own in group.notify(queue: .global()) { own.resume() } }
  precondition(count.value == 40)
}

/// A task waits for a block, which waits for a task.
func runNested() async {
  await withTaskGroup(of: Void.self) { group in
    for _ in 0..<20 {
      group.addTask {
        let isDone = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
          let inner = DispatchSemaphore(value: 0)
          Task.detached { inner.signal() }
          inner.wait()
          isDone.signal()
        }
        isDone.wait()
        DispatchQueue.global().sync {}
      }
    }
  }
}

/// Blocks beside tasks that give way for ever, and the other way round.
func runBeside() async {
  let stop = Count(), group = DispatchGroup()
  for _ in 0..<64 {
    Task.detached { while stop.value == 0 { await Task.yield() } }
  }
  let start = ContinuousClock.now
  for _ in 0..<10_000 { DispatchQueue.global().async(group: group) {} }
  await withUnsafeContinuation { own in group.notify(queue: .global()) { own.resume() } }
  // One at a turn of all tasks would take a tenth of a second for each hundred.
  precondition(ContinuousClock.now - start < .seconds(5))
  stop.add()

  let end = Count()
  @Sendable func again() { if end.value == 0 { DispatchQueue.global().async { again() } } }
  for _ in 0..<64 { again() }
  for _ in 0..<1000 { await Task.detached {}.value }
  end.add()
}

/// What programs use global queues for besides.
func runOthers() async {
  let sum = Count()
  DispatchQueue.concurrentPerform(iterations: 1000) { _ in sum.add() }
  await Task.detached { DispatchQueue.concurrentPerform(iterations: 1000) { _ in sum.add() } }.value
  precondition(sum.value == 2000)

  let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
  let readers = Count()
  for _ in 0..<100 { queue.async { readers.add() } }
  await withUnsafeContinuation { own in
    queue.async(flags: .barrier) {
      precondition(readers.value == 100)
      own.resume()
    }
  }
  await withUnsafeContinuation { own in
    DispatchQueue.global().asyncAfter(deadline: .now() + 0.01) { own.resume() }
  }
}

/// High-priority tasks compute until a more urgent block has run.
func runUrgent() async {
  let end = Count()
  let tasks = (0..<16).map { _ in Task.detached(priority: .high) { while end.value == 0 {} } }
  DispatchQueue.global(qos: .userInteractive).async { end.add() }
  for task in tasks { await task.value }
}

/// Each class has the queue of its name.
func checkQueues() {
  for (name, qos) in [
    ("user-interactive", DispatchQoS.QoSClass.userInteractive), ("user-initiated", .userInitiated),
    ("default", .default), ("utility", .utility), ("background", .background),
  ] {
    precondition(DispatchQueue.global(qos: qos).label == "com.apple.root.\(name)-qos", "\(qos)")
  }
}

@main struct Main {
  static func main() async {
    checkQueues()
    runFirst()
    await runEverywhere()
    await runInTask()
    await runChains()
    if hasPool {
      // With Dispatch's threads these wait for a second each time, or for ever.
      await runBlocked()
      await runNested()
    }
    await runBeside()
    await runUrgent()
    await runOthers()
  }
}
