// RUN: %empty-directory(%t)
// RUN: %target-build-swift %import-libdispatch -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out

// RUN: %target-run %t/a.out 2>&1 | %FileCheck --check-prefix=OFF %s
// OFF-NOT: {{liveness:|Warning}}
// OFF: done

// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=soon %target-run %t/a.out 2>&1 | %FileCheck --check-prefix=WORD %s
// WORD: Warning: cannot parse value SWIFT_LIVENESS_TIMEOUT=soon, defaulting to 0.
// WORD-NOT: {{liveness:|Warning}}
// WORD: done

// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=9 %target-run %t/a.out 2>&1 | %FileCheck --check-prefix=SHORT %s
// SHORT: Warning: cannot use value SWIFT_LIVENESS_TIMEOUT=9, defaulting to 1000.
// SHORT-NOT: {{liveness:|Warning}}
// SHORT: done

// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=86400000 %target-run %t/a.out 2>&1 | %FileCheck --check-prefix=OFF %s

// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=100 %env-SWIFT_LIVENESS_ACTION=shout %target-run %t/a.out 2>&1 | %FileCheck --check-prefix=ACTION %s
// ACTION: Warning: cannot use value SWIFT_LIVENESS_ACTION=shout, defaulting to report.
// ACTION-NOT: Warning
// ACTION: liveness: {{.*}} stuck for
// ACTION: liveness: {{.*}} stuck for
// ACTION: done

// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=100 %env-SWIFT_LIVENESS_ACTION=once %target-run %t/a.out 2>&1 | %FileCheck --check-prefix=ONCE %s
// ONCE: liveness: {{.*}} stuck for
// ONCE-NOT: stuck for
// ONCE: done

// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=100 %env-SWIFT_LIVENESS_HISTORY=5000 %target-run %t/a.out 2>&1 | %FileCheck --check-prefix=HISTORY %s
// HISTORY: Warning: cannot use value SWIFT_LIVENESS_HISTORY=5000, defaulting to 16.
// HISTORY: stuck for

// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=100 %env-SWIFT_LIVENESS_INTERVAL=4294967295 %target-run %t/a.out 2>&1 | %FileCheck --check-prefix=INTERVAL %s
// INTERVAL: Warning: cannot use value SWIFT_LIVENESS_INTERVAL=4294967295, defaulting to a quarter of the timeout.
// INTERVAL: stuck for

// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=100 %env-SWIFT_LIVENESS_ACTION=backtrace %target-run %t/a.out 2>&1 | %FileCheck --check-prefix=BACKTRACE %s
// BACKTRACE: liveness: {{.*}} stuck for
// BACKTRACE: stack:
// BACKTRACE: nanosleep
// BACKTRACE: blockWithName
// BACKTRACE: swift_job_run

// RUN: not --crash env %env-SWIFT_LIVENESS_TIMEOUT=100 %env-SWIFT_LIVENESS_ACTION=abort %target-run %t/a.out > %t/log 2>&1
// RUN: %FileCheck --check-prefix=ABORT %s < %t/log
// ABORT: liveness: {{.*}} stuck for
// ABORT-NOT: done

// RUN: env %env-SWIFT_DEBUG_HELP=YES %target-run %t/a.out 2>&1 | %FileCheck --check-prefix=HELP %s
// HELP-DAG: SWIFT_LIVENESS_TIMEOUT [default: 0]
// HELP-DAG: SWIFT_LIVENESS_INTERVAL [default: 0]
// HELP-DAG: SWIFT_LIVENESS_ACTION [default: "report"]
// HELP-DAG: SWIFT_LIVENESS_HISTORY [default: 16]

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// A runtime without the monitor reports nothing.
// UNSUPPORTED: runtime_before

// The environment's settings, right and wrong.

import Glibc

@inline(never) func blockWithName() { usleep(500_000) }

@main struct Main {
  static func main() async {
    setvbuf(stdout, nil, _IOLBF, 0)
    for _ in 0..<2 {
      await Task.detached { blockWithName() }.value
      try? await Task.sleep(nanoseconds: 50_000_000)
    }
    print("done")
  }
}
