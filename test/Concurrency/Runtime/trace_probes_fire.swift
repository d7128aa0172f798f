// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c -fPIC -O1 %S/Inputs/arm-probes.c -o %t/arm.o
// RUN: cp %s %t/main.swift
// RUN: %target-build-swift %import-libdispatch -parse-as-library -import-objc-header %S/Inputs/arm-probes.h %t/main.swift %t/arm.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out > %t/library
// RUN: %{python} %S/Inputs/list_probes.py $(cat %t/library) --places > %t/places
// RUN: %target-run %t/a.out %t/places | %FileCheck %s
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=2 %target-run %t/a.out %t/places pool | %FileCheck %s --check-prefixes=CHECK,POOL

// CHECK:      task_lifetime_begin 11
// CHECK-NEXT: job_enqueue_global true
// CHECK-NEXT: job_run_begin true
// CHECK-NEXT: job_run_end true
// CHECK-NEXT: task_lifetime_end true
// CHECK-NEXT: task_wait true
// CHECK-NEXT: task_continuation 1 1 1
// CHECK-NEXT: task_cancel 1
// CHECK-NEXT: task_sleep 2 1 1
// CHECK-NEXT: group_add 3
// CHECK-NEXT: actor true true true
// CHECK-NEXT: job_enqueue_main_executor 1
// CHECK-NEXT: silent: none
// POOL-NEXT: silent of the pool: none

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// REQUIRES: CPU=x86_64
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// UNSUPPORTED: emulated
// With UndefinedBehaviorSanitizer the compiler makes two places of one probe.
// UNSUPPORTED: runtime_ubsan
// XFAIL: without_tracing-probes

// Each probe fires once a tool listens, and those with a number fire as often as they should. Not
// here: job_enqueue_global_with_delay, which no sleep calls any more.

import Dispatch
import Glibc

actor Counter {
  var count = 0
  func add() { count += 1 }
}
@MainActor func onMain() {}

@globalActor actor Busy {
  static let shared = Busy()
  func block(_ entered: DispatchSemaphore, until go: DispatchSemaphore) {
    entered.signal()
    go.wait()
  }
  func nothing() {}
}
final class OnBusy: Sendable {
  @Busy deinit {}
}

func wait(_ semaphore: DispatchSemaphore) { semaphore.wait() }

/// Those of these that have not fired.
func silent(_ names: String...) -> String {
  let silent = names.filter { hitsOf($0) == 0 }
  return silent.isEmpty ? "none" : silent.joined(separator: " ")
}

/// What a queue of an actor, isolated deinits that wait for it, and a group trace.
func doTheRest() async {
  let entered = DispatchSemaphore(value: 0), go = DispatchSemaphore(value: 0)
  let busy = Task.detached { await Busy.shared.block(entered, until: go) }
  wait(entered)
  let waiting = Task { @Busy in await Busy.shared.nothing() }
  for _ in 0..<10 { _ = OnBusy() }
  go.signal()
  await waiting.value
  await busy.value
  await withTaskGroup(of: Void.self) { group in
    group.addTask { _ = usleep(50_000) }
    await group.next()
  }
}

/// Jobs that block: others take their place, and what is in their queues.
func usePool() async {
  await withTaskGroup(of: Void.self) { group in
    for _ in 0..<8 { group.addTask { _ = usleep(50_000) } }
    usleep(50_000)
  }
}

@main struct Main {
  static func main() async {
    guard CommandLine.arguments.count > 1 else {
      print(String(cString: pathOfRuntime()))
      return
    }
    armProbes(CommandLine.arguments[1])
    await Task.detached {
      for _ in 0..<10 { await Task.detached {}.value }
      print("task_lifetime_begin", hitsOf("task_lifetime_begin"))
      print("job_enqueue_global", hitsOf("job_enqueue_global") >= 10)
      print("job_run_begin", hitsOf("job_run_begin") >= 10)
      print("job_run_end", hitsOf("job_run_end") >= 10)
      // The thread that ended a task releases it after it has resumed the one that waits.
      for _ in 0..<2000 where hitsOf("task_lifetime_end") < 9 { usleep(5000) }
      print("task_lifetime_end", hitsOf("task_lifetime_end") >= 9)
      let waiting = Task.detached { usleep(100_000) }
      await waiting.value
      print("task_wait", hitsOf("task_wait_begin") >= 1 && hitsOf("task_wait_end") >= 1)
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in continuation.resume() }
      print(
        "task_continuation", hitsOf("task_continuation_begin"), hitsOf("task_continuation_await"),
        hitsOf("task_continuation_end"))
      let sleeper = Task.detached { try? await Task.sleep(nanoseconds: 60_000_000_000) }
      while hitsOf("task_sleep_begin") == 0 { usleep(1000) }
      usleep(100_000)
      sleeper.cancel()
      _ = await sleeper.value
      print("task_cancel", hitsOf("task_cancel"))
      try? await Task.sleep(nanoseconds: 100_000_000)
      print("task_sleep", hitsOf("task_sleep_begin"), hitsOf("task_sleep_end"), hitsOf("task_sleep_cancel"))
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<3 { group.addTask {} }
      }
      print("group_add", hitsOf("group_add"))
      await Counter().add()
      print("actor", hitsOf("actor_lifetime_begin") > 0, hitsOf("actor_deallocate") > 0, hitsOf("task_switch") > 0)
      let before = hitsOf("job_enqueue_main_executor")
      await onMain()
      print("job_enqueue_main_executor", hitsOf("job_enqueue_main_executor") - before)
      await doTheRest()
      print("silent:", silent(
        "actor_dequeue", "actor_enqueue", "actor_job_queue", "actor_state_changed", "group_next", "isolated_deinit",
        "isolated_deinit_shared", "task_flags_changed", "task_status_changed"))
      guard CommandLine.arguments.count > 2 else { return }
      await usePool()
      print("silent of the pool:", silent(
        "pool_park", "pool_stand_in", "pool_steal", "pool_thread_begin", "pool_unpark", "pool_wake"))
    }.value
  }
}
