// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/isolated_deinit_process.c -o %t/process.o
// RUN: %target-build-swift -target %target-future-triple -parse-as-library %import-libdispatch %s %t/process.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s
// RUN: %env-ENQUEUE_BEFORE_MAIN=1 %target-run %t/a.out | %FileCheck %s --check-prefix=BEFORE

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// UNSUPPORTED: OS=windows-msvc, OS=wasip1, remote_run, device_run

// Isolated deinits are enqueued in a forked child, at exit and before main.

import Dispatch

@globalActor actor Target { static let shared = Target() }

@Target var ran = 0

@Target final class Object {
  nonisolated let done: DispatchSemaphore?
  nonisolated init(_ done: DispatchSemaphore?) { self.done = done }
  isolated deinit {
    ran += 1
    if let done {
      print("ran \(ran)")
      ran = 0
      done.signal()
    }
  }
}

@_cdecl("enqueueDeinits")
public func enqueueDeinits(_ place: UnsafePointer<CChar>, _ count: Int) {
  print(String(cString: place), terminator: ": ")
  let done = DispatchSemaphore(value: 0)
  for _ in 1..<count { _ = Object(nil) }
  _ = Object(done)
  done.wait()
}

@_cdecl("leaveDeinitsEnqueued")
public func leaveDeinitsEnqueued(_ count: Int) {
  for _ in 0..<count { _ = Object(nil) }
}

@_silgen_name("enqueueInChild") func enqueueInChild()
@_silgen_name("enqueueAtExit") func enqueueAtExit()

@main struct Main {
  static func main() {
    // First, because dispatch works in a child only if it has not been used.
    enqueueInChild()
    enqueueDeinits("in main", 100)
    enqueueAtExit()
  }
}

// CHECK: child: ran 100
// CHECK: child at exit: ran 10
// CHECK: child ended with 0
// CHECK: in main: ran 100
// CHECK: at exit: ran 10

// BEFORE: before main: ran 100
