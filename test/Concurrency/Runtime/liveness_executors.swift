// RUN: %empty-directory(%t)
// RUN: %target-build-swift %import-libdispatch -parse-as-library -I %S/../../../liveness/include %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=400 %target-run %t/a.out 2>&1 | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// A runtime without the monitor reports nothing.
// XFAIL: without_executor-liveness-marks

// Every executor's jobs are seen, and the report names the executor.

import Dispatch
import Glibc

func settle() async { try? await Task.sleep(nanoseconds: 1_000_000_000) }

func block() { usleep(1_000_000) }

actor Default { func run() { block() } }

final class Custom: SerialExecutor, TaskExecutor {
  let queue = DispatchQueue(label: "custom")
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
  func asUnownedSerialExecutor() -> UnownedSerialExecutor { .init(ordinary: self) }
}

final class Preferred: TaskExecutor {
  let queue = DispatchQueue(label: "preferred")
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

actor OnCustom {
  nonisolated let executor = Custom()
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }
  func run() { block() }
}

/// Its job has no task.
@MainActor final class Dying {
  isolated deinit { block() }
}

@main struct Main {
  static func main() async {
    setvbuf(stdout, nil, _IOLBF, 0)
    // CHECK: pool
    // CHECK-NEXT: liveness: {{[-0-9T:.]+Z}} thread {{[0-9]+}} "{{.*}}", task {{[0-9]+}}, blocked, stuck for
    print("pool")
    await Task.detached { block() }.value
    await settle()

    // CHECK: default actor
    // CHECK-NEXT: liveness: {{.*}} on {{.*}}Default 0x{{.*}}, blocked, stuck for
    print("default actor")
    let actor = Default()
    await Task.detached { await actor.run() }.value
    await settle()

    // CHECK: main actor
    // CHECK-NEXT: liveness: {{.*}} task {{[0-9]+}} "on main" on MainActor, blocked, stuck for
    print("main actor")
    await Task(name: "on main") { @MainActor in block() }.value
    await settle()

    // CHECK: custom executor
    // CHECK-NEXT: liveness: {{.*}} on {{.*}}Custom 0x{{.*}}, blocked, stuck for
    print("custom executor")
    let onCustom = OnCustom()
    await Task.detached { await onCustom.run() }.value
    await settle()

    // CHECK: task executor
    // CHECK-NEXT: liveness: {{.*}}, task {{[0-9]+}}, blocked, stuck for
    print("task executor")
    let preferred = Preferred()
    await Task(executorPreference: preferred) { block() }.value
    await settle()

    // CHECK: isolated deinit
    // CHECK-NEXT: liveness: {{.*}} "an isolated deinit" on MainActor, blocked, stuck for
    print("isolated deinit")
    let done = Task.detached { _ = await Dying() }
    await done.value
    await settle()
    await settle()
    await settle()

    // CHECK: moves again after
    // CHECK: done
    print("done")
  }
}
