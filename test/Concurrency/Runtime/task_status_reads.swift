// RUN: %empty-directory(%t)
// RUN: %target-build-swift -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// REQUIRES: OS=linux-gnu
// REQUIRES: CPU=x86_64

// Flags were read with lock cmpxchg16b, which writes.
// XFAIL: without_task-status-plain-loads

// Who asks whether a task is cancelled, or for its priority, only reads: so any
// number of threads can ask at the same time. Here the page is read-only.

import Glibc

// With one pointer as argument the calling convention is C's.
let runtime = dlopen(nil, RTLD_NOW)
let isCancelled = unsafeBitCast(
  dlsym(runtime, "swift_task_isCancelled"),
  to: (@convention(c) (UnsafeMutableRawPointer) -> Bool).self)
let currentPriority = unsafeBitCast(
  dlsym(runtime, "swift_task_currentPriority"),
  to: (@convention(c) (UnsafeMutableRawPointer) -> Int).self)

/// Calls `body` while the memory around `pointer` can't be written.
func withReadOnlyMemory<R>(
  around pointer: UnsafeMutableRawPointer, _ body: () -> R
) -> R {
  let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))
  let page = UnsafeMutableRawPointer(
    bitPattern: UInt(bitPattern: pointer) & ~UInt(pageSize - 1))!
  if mprotect(page, 2 * pageSize, PROT_READ) != 0 { fatalError("mprotect") }
  let result = body()
  if mprotect(page, 2 * pageSize, PROT_READ | PROT_WRITE) != 0 {
    fatalError("mprotect")
  }
  return result
}

/// Runs the task on this thread, so that no other one writes to memory.
final class Inline: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
  }
}

nonisolated(unsafe) var continuation: UnsafeContinuation<Void, Never>?

@main struct Main {
  static func main() {
    let task = Task.detached(executorPreference: Inline(), priority: .high) {
      await withTaskCancellationHandler {
        await withUnsafeContinuation { continuation = $0 }
      } onCancel: {}
    }
    let pointer = unsafeBitCast(task, to: UnsafeMutableRawPointer.self)

    // Look the functions up while memory can be written.
    _ = (isCancelled(pointer), currentPriority(pointer))
    let answers = withReadOnlyMemory(around: pointer) {
      (isCancelled(pointer), currentPriority(pointer))
    }
    // CHECK: false 25
    print(answers.0, answers.1)
    task.cancel()
    let answer = withReadOnlyMemory(around: pointer) { isCancelled(pointer) }
    // CHECK-NEXT: true
    print(answer)
    continuation!.resume()
  }
}
