// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// A main function forks before its first await, when the main queue has something, and both processes go on: neither
// takes a wake-up of the other's.

import Dispatch
import Glibc

@_silgen_name("fork") func cFork() -> Int32

final class Box {
  let continuation: UnsafeContinuation<Void, Never>

  init(_ continuation: UnsafeContinuation<Void, Never>) { self.continuation = continuation }
}

/// Is resumed by another thread when the first one waits.
@MainActor func hop() async {
  await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
    var thread = pthread_t()
    pthread_create(&thread, nil, { box in
      usleep(300)
      Unmanaged<Box>.fromOpaque(box!).takeRetainedValue().continuation.resume()
      return nil
    }, Unmanaged.passRetained(Box(continuation)).toOpaque())
    pthread_detach(thread)
  }
}

@main struct Main {
  @MainActor static func main() async {
    alarm(60)
    Task { @MainActor in }
    let child = cFork()
    if child == 0 {
      alarm(60)
      await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }
    for _ in 0..<1000 { await hop() }
    kill(child, SIGKILL)
    waitpid(child, nil, 0)
    // CHECK: done
    print("done")
  }
}
