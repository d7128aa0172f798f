// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -target %target-future-triple %import-libdispatch -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out lock | %FileCheck %s
// RUN: %target-run %t/a.out queue | %FileCheck %s
// RUN: %target-run %t/a.out stream | %FileCheck %s
// RUN: %target-run %t/a.out child | %FileCheck %s
// RUN: %target-run %t/a.out asyncLet | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// It would hang.
// UNSUPPORTED: without_task-cancel-unlocked

// A cancellation handler wants a lock of the program. A thread that holds that
// lock resumes the cancelled task. Neither must wait for the runtime.
//
// lock:     a continuation is resumed under a lock (swiftlang/swift#67110)
// queue:    likewise on a serial queue, as URLSession does
//           (swiftlang/swift-corelibs-foundation#5412)
// stream:   a consumer is resumed by an element that is yielded under the lock
//           (apple/swift-nio#2558)
// child, asyncLet: the cancelled task is the parent

import Dispatch
import Synchronization

/// Makes the two threads meet: the handler runs, and the other has the lock.
struct Meeting: Sendable {
  let handlerRuns = DispatchSemaphore(value: 0)
  let lockIsHeld = DispatchSemaphore(value: 0)

  /// In the handler, before it takes the lock.
  func inHandler() {
    handlerRuns.signal()
    lockIsHeld.wait()
  }
  /// With the lock held, before the task is resumed.
  func withLock() { lockIsHeld.signal() }
}

/// Resumes its waiter under its own lock, as many a state machine does.
final class Gate<T: Sendable>: Sendable {
  private let state = Mutex<UnsafeContinuation<T?, Never>?>(nil)
  let cancelled = Atomic<Int>(0)
  let meeting = Meeting()

  var isWaiting: Bool { state.withLock { $0 != nil } }

  func wait() async -> T? {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { new in state.withLock { $0 = new } }
    } onCancel: {
      meeting.inHandler()
      state.withLock { _ in _ = cancelled.add(1, ordering: .relaxed) }
    }
  }

  /// Called on a thread of its own.
  func open(_ value: T) {
    meeting.handlerRuns.wait()
    state.withLock {
      meeting.withLock()
      $0!.resume(returning: value)
      $0 = nil
    }
  }
}

func become(_ condition: () -> Bool) async {
  while !condition() { try! await Task.sleep(for: .microseconds(10)) }
}

/// Cancels on one thread, and opens the gate on another.
func cancel<T: Sendable, V: Sendable>(
  _ task: Task<V, Never>, while gate: Gate<T>, opensWith value: T
) async -> V {
  await become { gate.isWaiting }
  let opened = DispatchSemaphore(value: 0)
  let thread = DispatchQueue(label: "opens")
  thread.async {
    gate.open(value)
    opened.signal()
  }
  await withUnsafeContinuation { done in
    DispatchQueue(label: "cancels").async {
      task.cancel()
      done.resume()
    }
  }
  opened.wait()
  precondition(gate.cancelled.load(ordering: .relaxed) == 1)
  return await task.value
}

func queue() async {
  let work = DispatchQueue(label: "workQueue")
  let meeting = Meeting()
  let continuation = Mutex<UnsafeContinuation<Int, Never>?>(nil)
  let handlers = Atomic<Int>(0)
  let task = Task {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { new in continuation.withLock { $0 = new } }
    } onCancel: {
      meeting.inHandler()
      work.sync { _ = handlers.add(1, ordering: .relaxed) }
    }
  }
  await become { continuation.withLock { $0 != nil } }
  work.async {
    meeting.handlerRuns.wait()
    meeting.withLock()
    continuation.withLock { $0! }.resume(returning: 7)
  }
  task.cancel()
  precondition(handlers.load(ordering: .relaxed) == 1)
  let value = await task.value
  precondition(value == 7)
}

/// The source of a stream has its lock while it yields an element, and takes it when the stream ends.
func stream() async {
  final class Source: Sendable {
    let lock = Mutex(0)
    let meeting = Meeting()
  }
  let source = Source(), ended = DispatchSemaphore(value: 0)
  let (elements, continuation) = AsyncStream<Int>.makeStream()
  continuation.onTermination = { _ in
    source.meeting.inHandler()
    source.lock.withLock { $0 += 1 }
  }
  let task = Task {
    var iterator = elements.makeAsyncIterator()
    return await iterator.next()
  }
  // The consumer waits by then.
  try! await Task.sleep(for: .milliseconds(5))
  DispatchQueue(label: "yields").async {
    source.meeting.handlerRuns.wait()
    source.lock.withLock { _ in
      source.meeting.withLock()
      continuation.yield(1)
    }
    ended.signal()
  }
  await withUnsafeContinuation { done in
    DispatchQueue(label: "cancels").async {
      task.cancel()
      done.resume()
    }
  }
  _ = await task.value
  ended.wait()
  precondition(source.lock.withLock { $0 } == 1)
}

@main struct Main {
  static func main() async {
    for _ in 0..<20 {
      switch CommandLine.arguments[1] {
      case "lock":
        let gate = Gate<Int>()
        let value = await cancel(Task { await gate.wait() }, while: gate, opensWith: 1)
        precondition(value == 1)
      case "queue":
        await queue()
      case "stream":
        await stream()
      case "child":
        let gate = Gate<Int>()
        let task = Task {
          await withTaskGroup(of: Int?.self) { group in
            group.addTask { await gate.wait() }
            return await group.next()!
          }
        }
        let value = await cancel(task, while: gate, opensWith: 5)
        precondition(value == 5)
      case "asyncLet":
        let gate = Gate<Int>()
        let task = Task {
          async let value = gate.wait()
          return await value
        }
        let value = await cancel(task, while: gate, opensWith: 6)
        precondition(value == 6)
      default:
        fatalError("unknown mode")
      }
    }
    // CHECK: done
    print("done")
  }
}
