// RUN: %empty-directory(%t)
// RUN: %target-build-swift %import-libdispatch -parse-as-library %S/Inputs/TraceCounters.swift %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_TRACE=%t/trace %target-run %t/a.out
// RUN: %{python} %S/Inputs/dump_trace.py %t/trace t- > %t/events
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_TRACE=%t/trace %target-run %t/a.out
// RUN: %{python} %S/Inputs/dump_trace.py %t/trace t- > %t/pool

// RUN: %FileCheck %s < %t/events
// RUN: %FileCheck %s < %t/pool
// CHECK: reason=0 signal=0 complete=1 overwritten=0 lost=0 events={{[1-9]}}

// RUN: grep -w t-plain %t/events | grep -v "status\|wait - " | %FileCheck --check-prefix=PLAIN %s
// RUN: grep -w t-plain %t/pool | grep -v "status\|wait - " | %FileCheck --check-prefix=PLAIN %s
// PLAIN:      create t-plain
// PLAIN-NEXT: enqueue_global t-plain
// PLAIN-NEXT: run t-plain
// PLAIN-DAG:  end t-plain
// PLAIN-DAG:  destroy t-plain
// PLAIN-NOT:  t-plain

// RUN: grep -w t-sleep %t/events | grep -v "status\|wait - " | %FileCheck --check-prefix=SLEEP %s
// RUN: grep -w t-sleep %t/pool | grep -v "status\|wait - " | %FileCheck --check-prefix=SLEEP %s
// SLEEP:      create t-sleep
// SLEEP-NEXT: enqueue_global t-sleep
// SLEEP-NEXT: run t-sleep
// SLEEP:      sleep t-sleep
// SLEEP:      end t-sleep
// SLEEP-NEXT: awake t-sleep
// SLEEP:      enqueue_global t-sleep
// SLEEP-NEXT: run t-sleep
// SLEEP-DAG:  end t-sleep
// SLEEP-DAG:  destroy t-sleep

// RUN: grep -w t-cancel %t/events | grep -v "status\|wait - " | %FileCheck --check-prefix=CANCEL %s
// RUN: grep -w t-cancel %t/pool | grep -v "status\|wait - " | %FileCheck --check-prefix=CANCEL %s
// CANCEL:      run t-cancel
// CANCEL:      sleep t-cancel
// CANCEL:      end t-cancel
// CANCEL-NEXT: cancel t-cancel
// CANCEL-NEXT: sleep_cancelled t-cancel
// CANCEL:      run t-cancel
// CANCEL-NOT:  awake
// CANCEL:      destroy t-cancel

// RUN: grep -w t-continuation %t/events | grep -v "status\|wait - " | %FileCheck --check-prefix=CONTINUATION %s
// RUN: grep -w t-continuation %t/pool | grep -v "status\|wait - " | %FileCheck --check-prefix=CONTINUATION %s
// CONTINUATION:      run t-continuation
// CONTINUATION-NEXT: continuation t-continuation
// CONTINUATION-NEXT: await t-continuation
// CONTINUATION-NEXT: end t-continuation
// CONTINUATION-NEXT: enqueue_global t-continuation
// CONTINUATION-NEXT: run t-continuation
// CONTINUATION-DAG:  end t-continuation
// CONTINUATION-DAG:  destroy t-continuation

// RUN: grep -w t-group %t/events | grep -v "status\|wait - " | %FileCheck --check-prefix=GROUP %s
// RUN: grep -w t-group %t/pool | grep -v "status\|wait - " | %FileCheck --check-prefix=GROUP %s
// GROUP:      run t-group
// GROUP-NEXT: group_next t-group
// GROUP-NOT:  group_next
// GROUP:      destroy t-group
// RUN: grep -w t-child %t/events | grep -v "status\|wait - " | %FileCheck --check-prefix=CHILD %s
// RUN: grep -w t-child %t/pool | grep -v "status\|wait - " | %FileCheck --check-prefix=CHILD %s
// CHILD:      create t-child
// CHILD-NEXT: group_add t-child
// CHILD-NEXT: enqueue_global t-child
// CHILD-NEXT: run t-child
// CHILD:      destroy t-child

// RUN: grep -w t-all %t/events | grep -v "status\|wait - " | %FileCheck --check-prefix=ALL %s
// RUN: grep -w t-all %t/pool | grep -v "status\|wait - " | %FileCheck --check-prefix=ALL %s
// ALL:      run t-all
// ALL-NEXT: group_next t-all
// ALL-NEXT: end t-all
// ALL:      destroy t-all
// RUN: grep -w t-born %t/events | grep -v "status\|wait - " | %FileCheck --check-prefix=BORN %s
// RUN: grep -w t-born %t/pool | grep -v "status\|wait - " | %FileCheck --check-prefix=BORN %s
// BORN:      create t-born
// BORN-NEXT: cancel t-born
// BORN-NEXT: group_add t-born
// BORN:      destroy t-born
// RUN: grep -w t-low %t/events | grep -v "status\|wait - " | %FileCheck --check-prefix=LOW %s
// RUN: grep -w t-low %t/pool | grep -v "status\|wait - " | %FileCheck --check-prefix=LOW %s
// LOW: create t-low 9
// RUN: %{python} %S/Inputs/dump_trace.py %t/trace | %FileCheck --check-prefix=YIELD %s
// YIELD-COUNT-3: enqueue_global 0x100

// RUN: grep -w t-let %t/events | grep -v "status\|wait - " | %FileCheck --check-prefix=LET %s
// RUN: grep -w t-let %t/pool | grep -v "status\|wait - " | %FileCheck --check-prefix=LET %s
// LET:      run t-let
// LET-NEXT: wait t-let -
// LET-NEXT: end t-let
// LET-NEXT: resume t-let
// LET-NEXT: enqueue_global t-let
// LET-NEXT: run t-let
// LET:      destroy t-let

// RUN: grep -w t-actor %t/events | grep -v "status\|wait - " | %FileCheck --check-prefix=ACTOR %s
// RUN: grep -w t-actor %t/pool | grep -v "status\|wait - " | %FileCheck --check-prefix=ACTOR %s
// ACTOR:      run t-actor
// ACTOR-NEXT: switch t-actor 1

// RUN: grep -w t-main %t/events | grep -v "status\|wait - " | %FileCheck --check-prefix=MAIN %s
// RUN: grep -w t-main %t/pool | grep -v "status\|wait - " | %FileCheck --check-prefix=MAIN %s
// MAIN:      run t-main
// MAIN-NEXT: switch t-main 0
// MAIN:      enqueue_main t-main
// MAIN:      run t-main
// MAIN:      destroy t-main

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// XFAIL: without_tracing-recorder

// What happens to tasks of known programs is recorded, in its order, with Dispatch
// and with the pool.

import Glibc

actor Counter {
  var count = 0
  func add() { count += 1 }
}
@MainActor func onMain() {}

@main struct Main {
  static func main() async {
    await Task.detached(name: "t-plain") {}.value
    await Task.detached(name: "t-sleep") { try? await Task.sleep(nanoseconds: 300_000_000) }.value
    do {
      let sleeper = Task.detached(name: "t-cancel") { try? await Task.sleep(nanoseconds: 60_000_000_000) }
      usleep(300_000)
      sleeper.cancel()
      _ = await sleeper.value
    }
    await Task.detached(name: "t-continuation") {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
        Task.detached {
          usleep(300_000)
          continuation.resume()
        }
      }
    }.value
    await Task.detached(name: "t-group") {
      await withTaskGroup(of: Void.self) { group in
        group.addTask(name: "t-child") { _ = usleep(300_000) }
        for await _ in group {}
      }
    }.value
    await Task.detached(name: "t-all") {
      await withDiscardingTaskGroup { group in
        group.addTask { _ = usleep(300_000) }
      }
    }.value
    await Task.detached {
      await withTaskGroup(of: Void.self) { group in
        group.cancelAll()
        group.addTask(name: "t-born") {}
      }
    }.value
    await Task.detached(name: "t-low", priority: .background) {}.value
    await Task.detached { for _ in 0..<3 { await Task.yield() } }.value
    await Task.detached(name: "t-let") {
      async let nothing: Void = { _ = usleep(300_000) }()
      await nothing
    }.value
    let counter = Counter()
    await Task.detached(name: "t-actor") { await counter.add() }.value
    await Task.detached(name: "t-main") { await onMain() }.value
    waitForTasks()
  }
}
