// RUN: %empty-directory(%t)
// RUN: %target-build-swift %import-libdispatch -parse-as-library -module-name a %s %S/Inputs/LivenessList.swift -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=5000 %env-SWIFT_LIVENESS_SIGNAL=USR2 %target-run %t/a.out > %t/log 2>&1
// RUN: %FileCheck %s < %t/log
// RUN: %FileCheck --check-prefix=MANY %s < %t/log
// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=5000 %env-SWIFT_LIVENESS_SIGNAL=USR2 %target-run %t/a.out churn > %t/churn 2>&1
// RUN: %FileCheck --check-prefix=CHURN %s < %t/churn

// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=5000 %env-SWIFT_LIVENESS_FORMAT=json %env-SWIFT_LIVENESS_SIGNAL=USR2 %target-run %t/a.out > %t/json 2>&1
// RUN: grep '^{' %t/json | %{python} %S/Inputs/liveness-tree.py

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// The signal ends a process without the monitor.
// XFAIL: without_executor-liveness-marks

// All live tasks, as a tree: what each is, and what it waits for.

import Dispatch
import Glibc

actor Busy {
  func block(_ semaphore: DispatchSemaphore, _ entered: DispatchSemaphore) {
    entered.signal()
    semaphore.wait()
  }
  func nothing() {}
}

@MainActor func onMain() {}

func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }

func leak() async {
  await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
}

/// Tasks that come and go while they are listed: what is read of them may be anything.
func churn() async {
  let asking = Task.detached {
    for _ in 0..<1200 {
      kill(getpid(), SIGUSR2)
      usleep(3000)
    }
  }
  let working = Task.detached {
    while !Task.isCancelled {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<200 { group.addTask(name: "child") { await Task.yield() } }
      }
      await Task.detached { try? await Task.sleep(nanoseconds: 1000) }.value
    }
  }
  await asking.value
  working.cancel()
  await working.value
}

@main struct Main {
  static func main() async {
    setvbuf(stdout, nil, _IOLBF, 0)
    // CHURN: live tasks
    // CHURN: listed
    if CommandLine.arguments.count > 1 {
      await churn()
      return print("listed")
    }
    let semaphore = DispatchSemaphore(value: 0)
    let busy = Busy()
    // CHECK: liveness: {{.*Z}} {{[0-9]+}} live tasks
    // CHECK-DAG: liveness:   task [[LEAKED:[0-9]+]] "leaked", suspended, last run {{[0-9]+}} ms ago, in {{leak|withUnsafeContinuation}}{{.*}}, waits for a continuation
    let leaked = Task.detached(name: "leaked") { await leak() }
    // A name is cut between two characters.
    // CHECK-DAG: liveness:   task {{[0-9]+}} {{"(é){31}", suspended}}
    Task.detached(name: String(repeating: "é", count: 40)) { await leak() }
    // CHECK-DAG: liveness:   task {{[0-9]+}} "waits", suspended, last run {{.*}}, in closure {{.*}}, waits for task [[LEAKED]]
    Task.detached(name: "waits") { await leaked.value }
    // CHECK-DAG: liveness:   task {{[0-9]+}} "runs", running
    let entered = DispatchSemaphore(value: 0)
    Task.detached(name: "runs") { await busy.block(semaphore, entered) }
    wait(for: entered)
    // CHECK-DAG: liveness:   task {{[0-9]+}} "queued", enqueued on a.Busy 0x
    Task.detached(name: "queued") { await busy.nothing() }
    // CHECK-DAG: liveness:   task {{[0-9]+}} "parent", suspended{{.*}}, waits for its group
    // CHECK-DAG: liveness:     task {{[0-9]+}} "child", suspended{{.*}}, waits for a continuation
    Task.detached(name: "parent") {
      await withTaskGroup(of: Void.self) { group in
        group.addTask(name: "child") { await leak() }
        await group.waitForAll()
      }
    }
    usleep(100_000)
    // On a thread of its own: this one has to give an answer to nobody.
    await Task.detached { listTasks() }.value
    // CHECK: signal
    print("signal")
    semaphore.signal()

    // Tasks that have come and gone are not there, whoever destroyed them.
    for _ in 0..<100 {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<100 { group.addTask { await busy.nothing() } }
      }
    }
    // MANY: signal
    // MANY: liveness: {{.*Z}} {{[1-9]|1[0-9]}} live tasks
    // MANY: done
    await Task.detached { listTasks() }.value
    print("done")
  }
}
