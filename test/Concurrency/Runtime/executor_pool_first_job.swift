// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -shared -fPIC %S/Inputs/executor-pool-first-job.c -o %t/plugin.so
// RUN: %target-build-swift -O -parse-as-library %import-libdispatch %s -Xlinker --export-dynamic -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env -u SWIFT_POOL %target-run %t/a.out %t/plugin.so | %FileCheck %s
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out %t/plugin.so | %FileCheck %s
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out %t/plugin.so | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// Libraries with a sanitizer load only into a program that has it, too.
// UNSUPPORTED: asan, tsan

// The first job of the process comes while another thread loads a library, whose constructor waits for a job, too.

import Dispatch
import Glibc

let ran = DispatchSemaphore(value: 0)

@_cdecl("startFromPlugin") public func startFromPlugin() {
  let own = DispatchSemaphore(value: 0)
  Task.detached {
    ran.signal()
    own.signal()
  }
  own.wait()
}

@main struct Main {
  static func main() {
    alarm(30)
    var thread = pthread_t()
    pthread_create(&thread, nil, { _ in
      usleep(100_000)
      Task.detached { ran.signal() }
      return nil
    }, nil)
    guard dlopen(CommandLine.arguments[1], RTLD_NOW) != nil else { fatalError(String(cString: dlerror())) }
    for _ in 0..<2 { ran.wait() }
    // CHECK: done
    print("done")
  }
}
