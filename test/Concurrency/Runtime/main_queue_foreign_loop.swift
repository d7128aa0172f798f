// RUN: %target-run-simple-swift( -parse-as-library) | %FileCheck %s
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// REQUIRES: libdispatch
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: use_os_stdlib

// A C library has the main loop, as GTK has: it watches the file descriptor of the main
// queue among its own, and calls Dispatch when that is readable (docs/guides.md).

import Dispatch
import Glibc

@_silgen_name("gettid") func currentThread() -> Int32
@_silgen_name("_dispatch_get_main_queue_handle_4CF") func mainQueueHandle() -> Int32
@_silgen_name("_dispatch_main_queue_callback_4CF") func runMainQueue(_: UnsafeRawPointer?)

@MainActor var isDone = false

@MainActor func handleClick() async {
  for _ in 0..<100 {
    await Task.detached {}.value
    precondition(currentThread() == getpid())
  }
  isDone = true
}

@main struct Main {
  static func main() {
    Task { await handleClick() }
    // What the library does.
    var handle = pollfd(fd: mainQueueHandle(), events: Int16(POLLIN), revents: 0)
    while !isDone {
      precondition(poll(&handle, 1, 10_000) == 1)
      var count: UInt64 = 0
      precondition(read(handle.fd, &count, 8) == 8)
      runMainQueue(nil)
    }
    // CHECK: done
    print("done")
  }
}
