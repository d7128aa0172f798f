// RUN: %empty-directory(%t)
// RUN: %target-build-swift -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// UNSUPPORTED: use_os_stdlib
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// It is Linux's implementation of swift_once that had an ID of the thread.
// REQUIRES: OS=linux-gnu
// The child of a process with several threads cannot start any.
// UNSUPPORTED: tsan

// The unpatched runtime unlocks in the name of the parent's thread for ever.
// XFAIL: without_once-after-fork

// A thread forks while it initializes a global for which another thread waits. In the child
// it finishes the initialization, alone or while a thread of the child waits.

import Glibc

@_silgen_name("fork")
func forkProcess() -> Int32

nonisolated(unsafe) var isChild = false
nonisolated(unsafe) var childsThread: pthread_t? = nil

/// Starts a thread that comes to `Alone` or `Awaited` and gives it the time to wait there.
func startWaiter(_ body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?)
  -> pthread_t {
  var thread = pthread_t()
  let status = pthread_create(&thread, nil, body, nil)
  precondition(status == 0)
  usleep(300_000)
  return thread
}

/// Forks. Returns 42 in the child at once, and in the parent when the child has ended.
func initialize(
  _ name: String, childWaits: Bool,
  _ body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
) -> Int {
  _ = startWaiter(body)
  let child = forkProcess()
  precondition(child >= 0)
  if child == 0 {
    isChild = true
    // What the alarm ends must not end as a core file.
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    alarm(10)
    if childWaits { childsThread = startWaiter(body) }
    return 42
  }
  var status: Int32 = 0
  precondition(waitpid(child, &status, 0) == child)
  print("\(name): \(status)")
  return 42
}

enum Alone {
  static let value: Int = initialize("alone", childWaits: false) { _ in
    precondition(Alone.value == 42)
    return nil
  }
}

enum Awaited {
  static let value: Int = initialize("awaited", childWaits: true) { _ in
    precondition(Awaited.value == 42)
    return nil
  }
}

func endIfChild() {
  if !isChild { return }
  if let thread = childsThread { pthread_join(thread, nil) }
  _exit(0)
}

@main struct Main {
  static func main() {
    precondition(Alone.value == 42)
    endIfChild()
    precondition(Awaited.value == 42)
    endIfChild()
  }
}

// CHECK: alone: 0
// CHECK: awaited: 0
