// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out fork | %FileCheck %s
// RUN: %target-run %t/a.out first | %FileCheck %s
// RUN: %target-run %t/a.out close | %FileCheck %s
// RUN: %target-run %t/a.out reuse | %FileCheck %s
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out first | %FileCheck %s
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out fork | %FileCheck %s
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out close | %FileCheck %s
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out reuse | %FileCheck %s

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
// first: nor does either of them if the fork comes before the first await, when the main queue has something
// close: the main actor goes on without the descriptor
// reuse: and does not read a file of the program's that is there instead

import Dispatch
import Glibc

@_silgen_name("fork") func cFork() -> Int32
@_silgen_name("_dispatch_get_main_queue_handle_4CF") func mainQueueHandle() -> Int32

/// Resume on another thread, after a while.
@MainActor func hop() async {
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
    let mode = CommandLine.arguments[1]
    if mode == "first" {
      Task { @MainActor in }
    } else {
      for _ in 0..<3 { await hop() }
    }
    switch mode {
    case "close":
      // On the first thread, which does not wait for the main queue meanwhile.
      close(mainQueueHandle())
      for _ in 0..<3000 { await hop() }
    case "reuse":
      let file = open(CommandLine.arguments[0], O_RDONLY)
      dup2(file, mainQueueHandle())
      for _ in 0..<3000 { await hop() }
      precondition(lseek(file, 0, SEEK_CUR) == 0, "somebody has read the file")
    default:
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
