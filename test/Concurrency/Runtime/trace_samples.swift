// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -std=gnu11 -Wall -Werror -Wno-unused-command-line-argument -I %S/../../../tracing/include -c %S/../../../tracing/samples/counters.c -o %t/counters.o
// RUN: %target-build-swift -parse-as-library %s %t/counters.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_TRACE=1 %target-run %t/a.out | %FileCheck %s
// RUN: %target-run %t/a.out | %FileCheck %s --check-prefix=NONE

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// XFAIL: without_tracing-recorder

// A C function reads the counters as the header of the recorder says.

@_silgen_name("printCounters") func printCounters()

// The main task, and one that waits.
// CHECK: 2 live tasks, {{[1-9][0-9]*}} jobs that ran, {{[0-9]+}} hops
// NONE: this program does not record
@main struct Main {
  static func main() async {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    let task = Task { for await _ in stream {} }
    await Task.yield()
    printCounters()
    continuation.finish()
    await task.value
  }
}
