// RUN: %empty-directory(%t)
// RUN: %target-build-swift %import-libdispatch -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out

// RUN: %target-run %t/a.out short 2>&1 | %FileCheck --check-prefix=OFF %s
// OFF-NOT: {{liveness:|Warning}}
// OFF: done

// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=soon %target-run %t/a.out short 2>&1 | %FileCheck --check-prefix=WORD %s
// WORD: Warning: cannot use value SWIFT_LIVENESS_TIMEOUT=soon, defaulting to 1000.
// WORD-NOT: {{liveness:|Warning}}
// WORD: done

// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=9 %target-run %t/a.out short 2>&1 | %FileCheck --check-prefix=SHORT %s
// SHORT: Warning: cannot use value SWIFT_LIVENESS_TIMEOUT=9, defaulting to 1000.
// SHORT-NOT: {{liveness:|Warning}}
// SHORT: done

// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=86400000 %target-run %t/a.out short 2>&1 | %FileCheck --check-prefix=OFF %s

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

// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=100 %env-SWIFT_LIVENESS_HISTORY=5000 %target-run %t/a.out long 2>&1 | %FileCheck --check-prefix=HISTORY %s
// HISTORY: Warning: cannot use value SWIFT_LIVENESS_HISTORY=5000, defaulting to 16.
// HISTORY: stuck for

// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=100 %env-SWIFT_LIVENESS_INTERVAL=4294967295 %target-run %t/a.out long 2>&1 | %FileCheck --check-prefix=INTERVAL %s
// INTERVAL: Warning: cannot use value SWIFT_LIVENESS_INTERVAL=4294967295, defaulting to a tenth of the timeout.
// INTERVAL: stuck for
// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=100 %env-SWIFT_LIVENESS_INTERVAL=0 %target-run %t/a.out long 2>&1 | %FileCheck --check-prefix=NONE %s
// NONE: Warning: cannot use value SWIFT_LIVENESS_INTERVAL=0, defaulting to a tenth of the timeout.
// NONE: stuck for

// Histories of 4 GB, in a process that may have no more. (Sanitizers themselves have more.)
// RUN: %if !asan && !tsan %{ (ulimit -v 4000000; env %env-SWIFT_LIVENESS_TIMEOUT=100 %env-SWIFT_LIVENESS_HISTORY=4096 %target-run %t/a.out short) > %t/log 2>&1 %}
// RUN: %if !asan && !tsan %{ %FileCheck --check-prefix=MEMORY %s < %t/log %}
// MEMORY: Warning: no memory for the liveness monitor
// MEMORY-NOT: {{liveness:|Warning}}
// MEMORY: done

// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=300 %env-SWIFT_LIVENESS_ACTION=backtrace %target-run %t/a.out 2>&1 | %FileCheck --check-prefix=BACKTRACE %s
// BACKTRACE: liveness: {{.*}} stuck for
// BACKTRACE: waits in clock_nanosleep, called by blockWithName()
// BACKTRACE: stack:
// BACKTRACE: nanosleep
// BACKTRACE: blockWithName
// BACKTRACE: swift_job_run

// RUN: not --crash env %env-SWIFT_LIVENESS_TIMEOUT=100 %env-SWIFT_LIVENESS_ACTION=abort %target-run %t/a.out > %t/log 2>&1
// RUN: %FileCheck --check-prefix=ABORT %s < %t/log
// ABORT: liveness: {{.*}} stuck for
// ABORT-NOT: done

// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=100 %env-SWIFT_LIVENESS_ACTION=metrics %target-run %t/a.out 2>&1 | %FileCheck --check-prefix=OFF %s
// A function whose name is not found soon enough is not left out.
// RUN: for try in 1 2 3; do env %env-SWIFT_LIVENESS_TIMEOUT=300 %env-SWIFT_LIVENESS_IGNORE='x, closure*main*' %target-run %t/a.out > %t/log 2>&1 || exit 1; grep 'liveness:' %t/log || break; done
// RUN: %FileCheck --check-prefix=OFF %s < %t/log
// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=100 %env-SWIFT_LIVENESS_IGNORE=other %target-run %t/a.out long > %t/double 2>&1
// RUN: %FileCheck --check-prefix=DOUBLE %s < %t/double
// DOUBLE: liveness: {{20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]+Z}} thread {{.*}} stuck for {{[0-9]+}} ms
// DOUBLE-NEXT: in
// DOUBLE-NEXT: waits in
// DOUBLE: stuck for
// DOUBLE: moves again after
// Each report of the job comes after twice the time of the one before, or later. (ThreadSanitizer sleeps at the exit.)
// RUN: %{python} -c "import re,sys; times = [int(n) for n in re.findall('stuck for ([0-9]+) ms', sys.stdin.read().partition('moves again')[0])]; sys.exit(None if times[0] >= 100 and 3 <= len(times) <= 4 and all(b >= 2 * a for a, b in zip(times, times[1:])) else str(times))" < %t/double

// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=100 %env-SWIFT_LIVENESS_RATE=1 %target-run %t/a.out 2>&1 | %FileCheck --check-prefix=RATE %s
// RATE: liveness: {{[1-9]}} more reports, too many in a second
// RATE: done

// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=300 %env-SWIFT_LIVENESS_FORMAT=json %target-run %t/a.out > %t/json 2>&1
// RUN: %FileCheck --check-prefix=JSON %s < %t/json
// JSON: {"time":"20{{.*}}Z","kind":"stuck","pid":{{[0-9]+}},"duration_ms":{{[3-9][0-9][0-9]}},"thread":{{[0-9]+}},"thread_name":"caf\ufffd","task":{{[0-9]+}},"task_name":"a \"quoted\" name","state":"blocked","function":"closure #1 in static Main.main()","waits_in":"clock_nanosleep","called_from":"blockWithName()",{{.*}}}
// JSON: {"time":"20{{.*}}Z","kind":"recovered","pid":{{[0-9]+}},"duration_ms":{{[0-9]+}},"thread":{{[0-9]+}},"task":{{[0-9]+}}}
// RUN: grep '^{' %t/json | %{python} -c "import json,sys; [json.loads(l) for l in sys.stdin.buffer]"

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// The kernel tells which system call the emulator makes, by its number on the emulator's processor.
// UNSUPPORTED: emulated

// A runtime without the monitor reports nothing.
// XFAIL: without_executor-liveness-marks

// The environment's settings, right and wrong.

import Glibc

let mode = CommandLine.arguments.dropFirst().first

@inline(never) func blockWithName() async {
  // A name in Latin-1, which no JSON may have.
  if getenv("SWIFT_LIVENESS_FORMAT") != nil {
    let file = open("/proc/thread-self/comm", O_WRONLY)
    write(file, [0x63, 0x61, 0x66, 0xE9] as [UInt8], 4)
    close(file)
  }
  usleep(mode == "long" ? 1_500_000 : 500_000)
}

@main struct Main {
  static func main() async {
    setvbuf(stdout, nil, _IOLBF, 0)
    for _ in 0..<(mode == nil ? 2 : 1) {
      await Task.detached(name: "a \"quoted\" name") { await blockWithName() }.value
      // Until its end has been seen.
      if mode == "short" { break }
      try? await Task.sleep(nanoseconds: 550_000_000)
    }
    print("done")
  }
}
