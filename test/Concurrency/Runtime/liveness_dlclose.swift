// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -shared -fPIC %S/Inputs/liveness-plugin.c -o %t/plugin.so
// RUN: %target-build-swift -O -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=10 %target-run %t/a.out %t/plugin.so > %t/log 2>&1
// RUN: %FileCheck %s < %t/log

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// The kernel tells the emulator's program counter.
// UNSUPPORTED: emulated

// A runtime without the monitor reports nothing.
// XFAIL: without_executor-liveness-marks

// A library is closed just after its job was reported, while the monitor looks for the names of its functions.

// CHECK: waits in {{.*}}, called by waitInPlugin
// CHECK: all closed

import Glibc

@main struct Main {
  static func main() async {
    for round in 0..<300 {
      await Task.detached {
        let library = dlopen(CommandLine.arguments[1], RTLD_NOW)!
        typealias Wait = @convention(c) (UInt32) -> CInt
        let wait = unsafeBitCast(dlsym(library, "waitInPlugin")!, to: Wait.self)
        // The last ones wait until they are surely named.
        _ = wait(round < 297 ? 10_500 + UInt32(round % 16) * 200 : 500_000)
        dlclose(library)
      }.value
    }
    print("all closed")
  }
}
