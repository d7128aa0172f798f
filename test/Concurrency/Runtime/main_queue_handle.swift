// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out fork | %FileCheck %s
// RUN: %target-run %t/a.out close | %FileCheck %s
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out fork | %FileCheck %s
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out close | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// The first thread waits for the main queue on a file descriptor.
//
// fork:  a child that goes on in the main actor takes no wake-up of its parent
// close: the main actor goes on without the descriptor

import Dispatch
import Glibc

@_silgen_name("fork") func cFork() -> Int32
@_silgen_name("_dispatch_get_main_queue_handle_4CF") func mainQueueHandle() -> Int32

/// Resume on another thread, after a while.
func hop() async {
  await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
    final class Box {
      let continuation: UnsafeContinuation<Void, Never>
      init(_ continuation: UnsafeContinuation<Void, Never>) { self.continuation = continuation }
    }
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { box in
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
    await Task.detached {}.value
    if CommandLine.arguments[1] == "close" {
      // On the first thread, which does not wait for the main queue meanwhile.
      close(mainQueueHandle())
      for _ in 0..<3000 { await hop() }
    } else {
      let child = cFork()
      if child == 0 {
        alarm(60)
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
      }
      for _ in 0..<3000 { await hop() }
      kill(child, SIGKILL)
      waitpid(child, nil, 0)
    }
    // CHECK: 3000 hops
    print("3000 hops")
  }
}
