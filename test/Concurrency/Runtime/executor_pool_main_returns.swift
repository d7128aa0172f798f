// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple %import-libdispatch %s -o %t/a.out -module-name main
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out
// RUN: for i in 1 2 3 4 5 6 7 8 9 10; do env %env-SWIFT_POOL=1 %target-run %t/a.out || exit 1; done
// RUN: for i in 1 2 3 4 5 6 7 8 9 10; do env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=16 %target-run %t/a.out || exit 1; done

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu

// The main function returns while the executor's threads run jobs, search for some and
// sleep. What the runtime keeps for them must outlive the destructors of the process.

import Dispatch
import Glibc

atexit { usleep(2000) }

for number in 0..<8 {
  Task.detached(priority: [.high, .medium, .background][number % 3]) {
    while true {
      await Task.yield()
      await Task.detached {}.value
      if number % 4 == 3 { usleep(UInt32(number) * 10) }
    }
  }
}
for _ in 0..<2 {
  var thread = pthread_t()
  pthread_create(&thread, nil, { _ in
    while true {
      let ran = DispatchSemaphore(value: 0)
      Task.detached { ran.signal() }
      ran.wait()
    }
  }, nil)
}
for _ in 0..<20 {
  let ran = DispatchSemaphore(value: 0)
  Task.detached { ran.signal() }
  ran.wait()
}
