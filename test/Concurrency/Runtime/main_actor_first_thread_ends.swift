// RUN: %empty-directory(%t)
// RUN: split-file %s %t
// RUN: %target-build-swift -O -parse-as-library %t/async-main.swift -o %t/a.out
// RUN: %target-build-swift -O %t/main.swift -o %t/top-level
// RUN: %target-codesign %t/a.out
// RUN: %target-codesign %t/top-level
// RUN: not --crash env %env-SWIFT_BACKTRACE=enable=no %target-run %t/a.out late-main 2>&1 | %FileCheck %s
// RUN: not --crash env %env-SWIFT_BACKTRACE=enable=no %target-run %t/a.out late-main-in-block 2>&1 | %FileCheck %s
// RUN: not --crash env %env-SWIFT_BACKTRACE=enable=no %target-run %t/a.out late-exit 2>&1 | %FileCheck %s
// RUN: not --crash env %env-SWIFT_BACKTRACE=enable=no %env-SWIFT_POOL=1 %target-run %t/a.out late-main 2>&1 | %FileCheck %s
// RUN: %target-run %t/a.out early-main | %FileCheck %s -check-prefix=EARLY
// RUN: %target-run %t/a.out early-exit | %FileCheck %s -check-prefix=EARLY
// RUN: %target-run %t/a.out exit 2>&1 | %FileCheck %s -check-prefix=EXIT
// RUN: not --crash env %env-SWIFT_BACKTRACE=enable=no %target-run %t/top-level late-main 2>&1 | %FileCheck %s
// RUN: %target-run %t/top-level early-main | %FileCheck %s -check-prefix=EARLY
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out early-main | %FileCheck %s -check-prefix=EARLY
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out early-exit | %FileCheck %s -check-prefix=EARLY

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// XFAIL: without_main-actor-main-thread

// dispatchMain() ends the thread that calls it, as pthread_exit() does. Before the first
// await the main actor can do without its thread, as Dispatch then serves the main queue
// on any. After it, the thread is amid the service of the main queue: the process ends
// with a message. exit() ends it from there as from anywhere.

// CHECK: Fatal error: dispatchMain() or pthread_exit() was called by a job of the main actor or a block of the main queue, on the thread that serves them
// EARLY: a job of the main actor and a block
// EXIT: at exit

//--- async-main.swift
import Dispatch
import Glibc

/// Resume on another thread, after a while.
@MainActor func hop() async {
  await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
    DispatchQueue.global().async {
      usleep(2_000)
      continuation.resume()
    }
  }
}

@main struct Main {
  @MainActor static func main() async {
    alarm(60)
    switch CommandLine.arguments[1] {
    case "late-main":
      for _ in 0..<3 { await hop() }
      dispatchMain()
    case "late-main-in-block":
      DispatchQueue.main.async { dispatchMain() }
      for _ in 0..<3 { await hop() }
    case "late-exit":
      for _ in 0..<3 { await hop() }
      pthread_exit(nil)
    case "exit":
      for _ in 0..<3 { await hop() }
      atexit { print("at exit") }
      exit(0)
    case let mode:
      Task { @MainActor in
        for _ in 0..<3 { await hop() }
        DispatchQueue.main.async {
          print("a job of the main actor and a block")
          exit(0)
        }
      }
      if mode == "early-main" { dispatchMain() }
      pthread_exit(nil)
    }
  }
}

//--- main.swift
import Dispatch
import Glibc

func hop() async {
  await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
    DispatchQueue.global().async {
      usleep(2_000)
      continuation.resume()
    }
  }
}

alarm(60)
if CommandLine.arguments[1] == "late-main" {
  for _ in 0..<3 { await hop() }
}
DispatchQueue.global().asyncAfter(deadline: .now() + 0.01) {
  DispatchQueue.main.async {
    print("a job of the main actor and a block")
    exit(0)
  }
}
dispatchMain()
