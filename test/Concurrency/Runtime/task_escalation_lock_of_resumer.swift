// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -target %target-future-triple %import-libdispatch -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out lock | %FileCheck %s
// RUN: %target-run %t/a.out child | %FileCheck %s
// RUN: %target-run %t/a.out group | %FileCheck %s
// RUN: %target-run %t/a.out inline | %FileCheck %s
// RUN: %target-run %t/a.out again | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// It would hang.
// UNSUPPORTED: without_task-escalation-unlocked

// A priority escalation handler wants a lock of a thread that resumes the task.
//
// lock, child, group: of the task itself, of an async let, of a group's child
// inline: the handler resumes the task, which an executor runs at once
// again:  the priority is raised again while a handler runs: both are told

import Dispatch
import Synchronization

final class InlineExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
  }
}
let executor = InlineExecutor()

final class Gate: Sendable {
  let state = Mutex<UnsafeContinuation<Void, Never>?>(nil)
  let handlers = Mutex<[(UInt8, UInt8)]>([])
  let handlerRuns = DispatchSemaphore(value: 0)
  let lockIsHeld = DispatchSemaphore(value: 0)

  var isWaiting: Bool { state.withLock { $0 != nil } }

  func wait(_ mode: String) async {
    await withTaskPriorityEscalationHandler {
      await withUnsafeContinuation { new in state.withLock { $0 = new } }
    } onPriorityEscalated: { old, new in
      let count = handlers.withLock {
        $0.append((old.rawValue, new.rawValue))
        return $0.count
      }
      switch mode {
      case "inline":
        open()
      case "again":
        if count == 1 {
          handlerRuns.signal()
          lockIsHeld.wait()
        }
      default:
        handlerRuns.signal()
        lockIsHeld.wait()
        state.withLock { _ in }
      }
    }
  }
  func open() {
    state.withLock { old in
      defer { old = nil }
      return old
    }?.resume()
  }
}

func run(_ mode: String) async {
  let gate = Gate()
  let preference: (any TaskExecutor)? = mode == "inline" ? executor : nil
  let task = Task(executorPreference: preference, priority: .background) {
    switch mode {
    case "child":
      async let one: Void = gate.wait(mode)
      await one
    case "group":
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await gate.wait(mode) }
      }
    default:
      await gate.wait(mode)
    }
  }
  while !gate.isWaiting { try! await Task.sleep(for: .microseconds(10)) }
  let other = DispatchQueue(label: "resumes")
  other.async {
    switch mode {
    case "inline":
      break
    case "again":
      gate.handlerRuns.wait()
      // Does not wait for the handler that runs.
      task.escalatePriority(to: .high)
      gate.lockIsHeld.signal()
    default:
      gate.handlerRuns.wait()
      // Takes the lock of the parent, too: it sets the cancelled bit, and looks for records.
      if mode == "child" { task.cancel() }
      gate.state.withLock {
        gate.lockIsHeld.signal()
        $0!.resume()
        $0 = nil
      }
    }
  }
  await withUnsafeContinuation { done in
    DispatchQueue(label: "escalates").async {
      task.escalatePriority(to: .utility)
      done.resume()
    }
  }
  if mode == "again" { gate.open() }
  await task.value
  let handlers = gate.handlers.withLock { $0.map { [$0.0, $0.1] } }
  let low = TaskPriority.background.rawValue, middle = TaskPriority.utility.rawValue
  let high = TaskPriority.high.rawValue
  precondition(handlers == (mode == "again" ? [[low, middle], [middle, high]]
                                            : [[low, middle]]), "\(handlers)")
}

@main struct Main {
  static func main() {
    // Not a task: whoever waits for a task escalates it.
    let done = DispatchSemaphore(value: 0)
    Task.detached(priority: .background) {
      for _ in 0..<50 { await run(CommandLine.arguments[1]) }
      done.signal()
    }
    done.wait()
    // CHECK: done
    print("done")
  }
}
