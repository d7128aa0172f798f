// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -target %target-future-triple %import-libdispatch -parse-as-library %s %S/Inputs/CancellationSupport.swift -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out siblings | %FileCheck %s
// RUN: %target-run %t/a.out first | %FileCheck %s
// RUN: %target-run %t/a.out order | %FileCheck %s
// RUN: %target-run %t/a.out scope | %FileCheck %s
// RUN: %target-run %t/a.out cancelInHandler | %FileCheck %s
// RUN: %target-run %t/a.out joinInHandler | %FileCheck %s
// RUN: %target-run %t/a.out wait | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// Some would hang, or fail only now and then.
// UNSUPPORTED: without_task-cancel-unlocked

// What goes on while a task is cancelled.
//
// siblings: a child's handler waits for the child before it, which its own
//           handler has resumed
// first:    a child goes on when its own handler has resumed it, and not when
//           all 100 have been called
// order:    a serial executor runs jobs in the order in which they are enqueued
// scope:    a handler whose scope ends while the task is cancelled runs once,
//           before those of outer scopes, and before cancel() returns
// cancelInHandler, joinInHandler: a handler cancels the task itself and others,
//           or waits for what another task does
// wait:     the scope of a handler does not end before the handler

import Dispatch
import Synchronization

func become(_ condition: () -> Bool) async {
  while !condition() { try! await Task.sleep(for: .microseconds(10)) }
}

/// Not on the pool: what is called here may wait for tasks.
func onOtherThread(_ body: @escaping @Sendable () -> Void) async {
  await withUnsafeContinuation { done in
    DispatchQueue(label: "cancels").async {
      body()
      done.resume()
    }
  }
}

func siblings() async {
  let executor = QueueExecutor()
  let gates = (0..<4).map { _ in Gate() }
  let passed = gates.map { _ in DispatchSemaphore(value: 0) }
  let task = Task(executorPreference: executor) {
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        group.addTask {
          await withTaskCancellationHandler {
            await gates[number].wait()
          } onCancel: {
            if number > 0 { passed[number - 1].wait() }
            gates[number].open()
          }
          passed[number].signal()
        }
      }
    }
  }
  await become { gates.allSatisfy { $0.isWaiting } }
  await onOtherThread { task.cancel() }
  await task.value
}

func first() async {
  let executor = QueueExecutor()
  let gates = (0..<100).map { _ in Gate() }
  let handlers = Atomic<Int>(0), handlersBefore = Atomic<Int>(-1)
  let wentOn = DispatchSemaphore(value: 0)
  let task = Task(executorPreference: executor) {
    await withTaskGroup(of: Void.self) { group in
      for (number, gate) in gates.enumerated() {
        group.addTask {
          await withTaskCancellationHandler {
            await gate.wait()
          } onCancel: {
            // The second waits until the first child has gone on.
            if number == 1 { wentOn.wait() }
            handlers.add(1, ordering: .relaxed)
            gate.open()
          }
          if number == 0 {
            handlersBefore.store(handlers.load(ordering: .relaxed), ordering: .relaxed)
            wentOn.signal()
          }
        }
      }
    }
  }
  await become { gates.allSatisfy { $0.isWaiting } }
  await onOtherThread { task.cancel() }
  await task.value
  precondition(handlersBefore.load(ordering: .relaxed) == 1)
  precondition(handlers.load(ordering: .relaxed) == 100)
}

func order() async {
  // Before the cancelled task, in its handler and behind it, others are resumed.
  let executor = QueueExecutor()
  let gates = (0..<5).map { _ in Gate() }
  let ran = Mutex<[Int]>([])
  let tasks = gates.indices.map { number in
    Task(executorPreference: executor) {
      await withTaskCancellationHandler {
        await gates[number].wait()
      } onCancel: {
        for gate in gates { gate.open() }
      }
      ran.withLock { $0.append(number) }
    }
  }
  await become { gates.allSatisfy { $0.isWaiting } }
  // The last one, too, has suspended: it would go on at once, before the others.
  executor.queue.sync {}
  tasks[2].cancel()
  for task in tasks { await task.value }
  let order = ran.withLock { $0 }
  precondition(order == [0, 1, 2, 3, 4], "\(order)")
}

func scope() async {
  let handlers = Atomic<Int>(0), outerHandlers = Atomic<Int>(0)
  let isIn = Atomic<Bool>(false)
  let task = Task {
    await withTaskCancellationHandler {
      await withTaskCancellationHandler {
        isIn.store(true, ordering: .releasing)
        // The scope ends as soon as the task is seen to be cancelled.
        while !Task.isCancelled {}
      } onCancel: {
        precondition(outerHandlers.load(ordering: .relaxed) == 0)
        // Longer than the rest of cancel() takes.
        for _ in 0..<1000 { _ = handlers.load(ordering: .relaxed) }
        handlers.add(1, ordering: .relaxed)
      }
      precondition(handlers.load(ordering: .relaxed) == 1)
    } onCancel: {
      precondition(handlers.load(ordering: .relaxed) == 1)
      outerHandlers.add(1, ordering: .relaxed)
    }
    precondition(outerHandlers.load(ordering: .relaxed) == 1)
  }
  await onOtherThread {
    while !isIn.load(ordering: .acquiring) {}
    task.cancel()
    precondition(handlers.load(ordering: .relaxed) == 1)
    precondition(outerHandlers.load(ordering: .relaxed) == 1)
  }
  await task.value
  precondition(handlers.load(ordering: .relaxed) == 1)
  precondition(outerHandlers.load(ordering: .relaxed) == 1)
}

func cancelInHandler() async {
  let gates = (0..<3).map { _ in Gate() }
  let tasks = Mutex<[Task<Void, Never>]>([])
  let handlers = Atomic<Int>(0)
  for number in 0..<3 {
    let task = Task {
      await withTaskCancellationHandler {
        await gates[number].wait()
      } onCancel: {
        handlers.add(1, ordering: .relaxed)
        for task in tasks.withLock({ $0 }) { task.cancel() }
        gates[number].open()
      }
    }
    tasks.withLock { $0.append(task) }
  }
  await become { gates.allSatisfy { $0.isWaiting } }
  let all = tasks.withLock { $0 }
  all[0].cancel()
  for task in all { await task.value }
  precondition(handlers.load(ordering: .relaxed) == 3)
}

func joinInHandler() async {
  // The handler of the parent is called first, and waits for its child's end.
  let executor = QueueExecutor()
  let gate = Gate(), parentGate = Gate()
  let ended = DispatchSemaphore(value: 0)
  let task = Task(executorPreference: executor) {
    async let child: Void = {
      await gate.wait()
      ended.signal()
    }()
    await withTaskCancellationHandler {
      await parentGate.wait()
    } onCancel: {
      gate.open()
      ended.wait()
      parentGate.open()
    }
    await child
  }
  await become { gate.isWaiting && parentGate.isWaiting }
  await onOtherThread { task.cancel() }
  await task.value
}

func wait() async {
  let isIn = DispatchSemaphore(value: 0)
  let runs = Atomic<Bool>(false), leaves = Atomic<Bool>(false)
  let ended = Atomic<Bool>(false)
  let executor = QueueExecutor()
  let task = Task(executorPreference: executor) {
    await withTaskCancellationHandler {
      isIn.signal()
      while !runs.load(ordering: .acquiring) {}
      leaves.store(true, ordering: .releasing)
    } onCancel: {
      runs.store(true, ordering: .releasing)
      while !leaves.load(ordering: .acquiring) {}
      _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(1))
      ended.store(true, ordering: .relaxed)
    }
    precondition(ended.load(ordering: .relaxed))
  }
  await onOtherThread {
    isIn.wait()
    task.cancel()
  }
  await task.value
}

@main struct Main {
  static func main() async {
    let mode = CommandLine.arguments[1]
    for _ in 0..<(mode == "scope" ? 5000 : 20) {
      switch mode {
      case "siblings": await siblings()
      case "first": await first()
      case "order": await order()
      case "scope": await scope()
      case "cancelInHandler": await cancelInHandler()
      case "joinInHandler": await joinInHandler()
      case "wait": await wait()
      default: fatalError("unknown mode")
      }
    }
    // CHECK: done
    print("done")
  }
}
