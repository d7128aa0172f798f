// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c -fPIC -O1 -fomit-frame-pointer %S/Inputs/liveness-stack.c -o %t/stack.o
// RUN: cp %s %t/main.swift
// RUN: %target-build-swift %t/main.swift %t/stack.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=150 %env-SWIFT_LIVENESS_ACTION=backtrace %target-run %t/a.out > %t/log 2>&1
// RUN: %FileCheck %s < %t/log
// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=150 %target-run %t/a.out 2>&1 | %FileCheck --check-prefix=DEFAULT %s

// A report that is too long has fewer frames, and is JSON all the same.
// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=150 %env-SWIFT_LIVENESS_ACTION=backtrace %env-SWIFT_LIVENESS_FORMAT=json %target-run %t/a.out deep > %t/json 2>&1
// RUN: %FileCheck --check-prefix=DEEP %s < %t/json
// RUN: grep '^{' %t/json | %{python} -c "import json,sys; [json.loads(l) for l in sys.stdin.buffer]"
// DEEP: {"time":"{{.*}}","kind":"stuck",{{.*}}"stack":[{"at":"0x{{.*}}"function":"sleepBelow_abc{{.*}}],"other_threads":[{{.*}}}

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// The kernel tells the emulator's program counter.
// UNSUPPORTED: emulated
// The calls are the sanitizer's, and need more of the stack.
// UNSUPPORTED: asan, tsan

// A runtime without the monitor reports nothing.
// XFAIL: without_executor-liveness-marks

// The stack of a job is taken from outside: the job needs no room for that, none of
// its calls is cut short, and the report names the innermost function of the program.

import Glibc

@_silgen_name("sleepAtEndOfStack") func sleepAtEndOfStack(_ left: Int, _ us: UInt32)
@_silgen_name("sleepBelowFrames") func sleepBelowFrames(_ us: UInt32)
@_silgen_name("isCutShort") func isCutShort(_ call: Int32, _ ms: Int32) -> Int32
@_silgen_name("spin") func spin(_ ms: Int32) -> UInt

func perform(_ name: String, _ body: @escaping @Sendable () -> Void) async {
  await Task.detached(name: name) { body() }.value
}

setvbuf(stdout, nil, _IOLBF, 0)

if CommandLine.arguments.count > 1 {
  await perform("deep") { sleepBelowFrames(2_000_000) }
  exit(0)
}

// CHECK: "at the end", blocked, stuck for
// CHECK: waits in clock_nanosleep, called by sleepAtEndOfStack
// CHECK-NEXT: stack:
// CHECK: clock_nanosleep
// CHECK: sleepAtEndOfStack
// CHECK: the stack has been enough
// DEFAULT: "at the end", blocked, stuck for
// DEFAULT-NEXT: in closure #1 in {{.*[^ ]$}}
// DEFAULT: waits in clock_nanosleep, called by sleepAtEndOfStack
await perform("at the end") {
  // Less than half of what a handler of a signal wants.
  sleepAtEndOfStack(2048, 1_500_000)
}
print("the stack has been enough")

// CHECK: waits in {{clock_nanosleep|nanosleep}}, called by isCutShort
// CHECK-NEXT: stack:
// CHECK: isCutShort
// CHECK-NEXT: closure #{{[0-9]+}} in {{top-level code|main}}
// CHECK: swift_job_run
// CHECK: call 0 is cut short: 0
// CHECK: waits in {{poll|ppoll}}, called by isCutShort
// CHECK: call 1 is cut short: 0
// CHECK: waits in {{select|pselect6}}, called by isCutShort
// CHECK: call 2 is cut short: 0
// CHECK: waits in futex, called by isCutShort
// CHECK: call 3 is cut short: 0
for call in 0..<4 {
  await perform("waits") {
    print("call", call, "is cut short:", isCutShort(Int32(call), 950))
  }
}

// The system may refuse to look at a thread that runs.
// CHECK: "spins", {{running|starved of processor time}}, stuck for
// CHECK: {{runs spin|no stack: the thread (runs, and|gets no processor)}}
// CHECK: done
// DEFAULT: done
await perform("spins") { precondition(spin(800) == 0) }
print("done")

// Code at the top level has no name of its own.
// DEFAULT-NOT: in closure #1 in closure #{{[0-9]+}} in{{ *$}}
