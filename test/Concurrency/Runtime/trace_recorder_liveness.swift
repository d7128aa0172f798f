// RUN: %empty-directory(%t)
// RUN: %empty-directory(%t/text)
// RUN: %empty-directory(%t/json)
// RUN: %target-build-swift -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=200 %env-SWIFT_TRACE=1 %env-SWIFT_TRACE_FOLDER=%t/text %target-run %t/a.out > %t/log 2>&1
// RUN: %FileCheck %s < %t/log
// RUN: %{python} %S/Inputs/dump_trace.py %t/text/swift-*-1.trace t- | %FileCheck --check-prefix=FILE %s
// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=200 %env-SWIFT_LIVENESS_FORMAT=json %env-SWIFT_TRACE=1 %env-SWIFT_TRACE_FOLDER=%t/json %target-run %t/a.out > %t/log 2>&1
// RUN: %FileCheck --check-prefix=JSON %s < %t/log
// RUN: test -f %t/json/swift-*-4.trace
// RUN: not test -f %t/json/swift-*-5.trace

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// XFAIL: without_tracing-recorder

// A report of the monitor names the trace of what led to it, and four reports of a process have one.

import Glibc

// CHECK: liveness: {{.*}} "t-stuck 0", {{.*}}stuck for
// CHECK: what led to it is in {{.*}}text/swift-{{[0-9]+}}-1.trace
// FILE: reason=4 signal=0 complete=1
// FILE: run t-stuck 0
// JSON: {{^}}{"time":{{.*}},"kind":"stuck",{{.*}},"trace":"{{.*}}json/swift-{{[0-9]+}}-1.trace"}{{$}}
@main struct Main {
  static func main() async {
    // Each has several reports, some of which may come late.
    for number in 0..<4 {
      await Task.detached(name: "t-stuck \(number)") { _ = usleep(1_500_000) }.value
    }
  }
}
