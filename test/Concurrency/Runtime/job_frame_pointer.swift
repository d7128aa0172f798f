// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c -fPIC -O1 %S/Inputs/frame-pointer.c -o %t/call.o
// RUN: cp %s %t/main.swift
// RUN: %target-build-swift -parse-as-library %t/main.swift %t/call.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// REQUIRES: CPU=x86_64 || CPU=aarch64
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// The sanitizers unwind by frame pointers.
// UNSUPPORTED: asan, tsan

// A function of a task clears bit 60 of the frame pointer. Whoever runs a job
// finds its own value there again.

import Glibc

@_silgen_name("keepsFramePointer")
func keepsFramePointer(
  _ function: UnsafeRawPointer, _ job: UnsafeRawPointer, _ identity: UnsafeRawPointer?,
  _ implementation: UInt
) -> Bool

final class Runner: SerialExecutor, @unchecked Sendable {
  var runs = 0
  func enqueue(_ job: consuming ExecutorJob) {
    let job = unsafeBitCast(UnownedJob(job), to: UnsafeRawPointer.self)
    let executor = unsafeBitCast(asUnownedSerialExecutor(), to: (UnsafeRawPointer?, UInt).self)
    let kept = keepsFramePointer(
      UnsafeRawPointer(dlsym(nil, "swift_job_run")!), job, executor.0, executor.1)
    print("kept:", kept)
    runs += 1
  }
}

let runner = Runner()

actor Counter {
  nonisolated var unownedExecutor: UnownedSerialExecutor { runner.asUnownedSerialExecutor() }
  var count = 0
  func add() async -> Int {
    count += 1
    await Task.yield()
    return count
  }
}

@main struct Main {
  static func main() async {
    // The first job ends in a suspension, the second one in a return, after which main goes on.
    // CHECK-DAG: kept: true
    // CHECK-DAG: kept: true
    // CHECK-DAG: count: 1
    print("count:", await Counter().add())
    // The thread that ran the job goes on behind it.
    while runner.runs < 2 { usleep(1000) }
  }
}
