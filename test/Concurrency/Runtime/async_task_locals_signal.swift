// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/task-local-signal.c -o %t/signal.o
// RUN: %target-build-swift -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library -import-objc-header %S/Inputs/task-local-signal.h %s %t/signal.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: OS=windows-msvc, OS=wasip1
// The sanitizer runs handlers later, between two operations of the program.
// UNSUPPORTED: tsan

// A signal handler reads task-local values while the thread that it interrupts binds
// them, unbinds them, and takes snapshots.

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

let keys = (0..<20).map { _ in TaskLocal<Int>(wrappedValue: 0) }
let keyPointers = {
  let pointers = UnsafeMutableBufferPointer<UnsafeRawPointer?>.allocate(capacity: keys.count)
  for (n, key) in keys.enumerated() {
    pointers[n] = UnsafeRawPointer(Unmanaged.passUnretained(key).toOpaque())
  }
  return UnsafePointer(pointers.baseAddress!)
}()

func bind(_ count: Int, from n: Int = 0) {
  if n == count {
    Task {}
  } else {
    keys[n].withValue(1000 + n) { bind(count, from: n + 1) }
  }
}

/// Binds values until signals have interrupted that for some thousand times.
func interrupt() {
  startSignals(keyPointers, keys.count)
  var round = 0
  while signalCount() < 3000 {
    round += 1
    bind(round % (keys.count + 1))
  }
  stopSignals()
  print(withUnsafeCurrentTask { $0 == nil } ? "no task," : "task,", "wrong: \(wrongCount())")
}

@main struct Main {
  static func main() async {
    interrupt()
#if canImport(Darwin) || canImport(Musl)
    var thread: pthread_t? = nil
#else
    var thread = pthread_t()
#endif
    let status = pthread_create(&thread, nil, { _ in
      interrupt()
      exit(0)
    }, nil)
    precondition(status == 0)
    try? await Task.sleep(nanoseconds: 60_000_000_000)
  }
}

// CHECK: task, wrong: 0
// CHECK: no task, wrong: 0
