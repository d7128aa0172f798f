// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O %import-libdispatch -parse-as-library %s %S/Inputs/LivenessList.swift -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=5000 %env-SWIFT_LIVENESS_SIGNAL=USR2 %target-run %t/a.out > %t/log 2>&1
// RUN: %FileCheck %s < %t/log
// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=5000 %env-SWIFT_LIVENESS_FORMAT=json %env-SWIFT_LIVENESS_SIGNAL=USR2 %target-run %t/a.out > %t/json 2>&1
// RUN: %FileCheck --check-prefix=JSON %s < %t/json
// Without the monitor nothing is marked.
// RUN: %target-run %t/a.out off > %t/off 2>&1
// RUN: %FileCheck --check-prefix=OFF %s < %t/off

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// A task whose continuation was destroyed is never freed.
// UNSUPPORTED: asan

// The signal ends a process without the monitor.
// XFAIL: without_executor-liveness-marks

// A checked continuation that is destroyed, and was not resumed, is named in the
// list of tasks: at once in its closure; later, on a thread of Dispatch; of a task
// that throws; and when the task has waited for another before. Others are not.

import Dispatch
import Glibc

/// What a task stores here belongs to the main task once `isStored` has been signalled.
final class Holder: @unchecked Sendable {
  var continuation: CheckedContinuation<Void, Never>? { didSet { isStored.signal() } }
  var unsafe: UnsafeContinuation<Void, Never>? { didSet { isStored.signal() } }
  private let isStored = DispatchSemaphore(value: 0)

  func waitUntilStored() { isStored.wait() }
}

@main struct Main {
  static func main() async {
    setvbuf(stdout, nil, _IOLBF, 0)
    let held = Holder(), unsafe = Holder(), later = Holder(), again = Holder()
    Task.detached(name: "at once") {
      await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in }
    }
    Task.detached(name: "throws") {
      try await withCheckedThrowingContinuation { (_: CheckedContinuation<Void, any Error>) in }
    }
    Task.detached(name: "later") {
      await withCheckedContinuation { later.continuation = $0 }
    }
    Task.detached(name: "held") {
      await withCheckedContinuation { held.continuation = $0 }
    }
    Task.detached(name: "unsafe") {
      await withUnsafeContinuation { unsafe.unsafe = $0 }
    }
    Task.detached(name: "second") {
      await withCheckedContinuation { again.continuation = $0 }
      await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in }
    }
    for holder in [held, unsafe, later, again] { holder.waitUntilStored() }
    usleep(300_000)
    again.continuation!.resume()
    again.continuation = nil
    await withUnsafeContinuation { done in
      DispatchQueue(label: "drops").async {
        later.continuation = nil
        done.resume()
      }
    }
    usleep(300_000)
    if CommandLine.arguments.count == 1 {
      await Task.detached { listTasks() }.value
    }
    // OFF: SWIFT TASK CONTINUATION MISUSE
    // OFF: not resumed yet
    print("not resumed yet")
    held.continuation!.resume()
    unsafe.unsafe!.resume()
  }
}

// CHECK-DAG: task {{[0-9]+}} "at once", suspended, {{.*}}waits for a continuation that has leaked{{$}}
// CHECK-DAG: task {{[0-9]+}} "throws", suspended, {{.*}}waits for a continuation that has leaked{{$}}
// CHECK-DAG: task {{[0-9]+}} "later", suspended, {{.*}}waits for a continuation that has leaked{{$}}
// CHECK-DAG: task {{[0-9]+}} "held", suspended, {{.*}}waits for a continuation{{$}}
// CHECK-DAG: task {{[0-9]+}} "unsafe", suspended, {{.*}}waits for a continuation{{$}}
// CHECK-DAG: task {{[0-9]+}} "second", suspended, {{.*}}waits for a continuation that has leaked{{$}}
// CHECK: not resumed yet

// JSON-DAG: "name":"at once",{{.*}}"waits_for":"continuation","continuation":"leaked"}
// JSON-DAG: "name":"held",{{.*}}"waits_for":"continuation"}
// JSON: not resumed yet
