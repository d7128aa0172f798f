// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/sleep-hook.c -o %t/sleep-hook.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple %import-libdispatch -parse-as-library -import-objc-header %S/Inputs/sleep-hook.h %s %t/sleep-hook.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu

// What the program does with a task that wakes delays no other one: a hook of the global executor,
// or a task executor that runs it at once. Two tasks that one thread has put to sleep until the same
// time wait for each other there.

import Dispatch
import Glibc
import Synchronization

final class Inline: TaskExecutor, SerialExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    // Wait only where the sleepers wake.
    meet()
    UnownedJob(job).runSynchronously(isolatedTo: asUnownedSerialExecutor(),
                                     taskExecutor: asUnownedTaskExecutor())
  }
}

/// Whether two tasks meet where they wake.
func twoMeet(hook: Bool, on executor: (any TaskExecutor)?) -> Bool {
  let finished = DispatchSemaphore(value: 0)
  let deadline = ContinuousClock.now + .seconds(1)
  for _ in 0..<2 {
    Task.immediateDetached(executorPreference: executor) {
      try? await Task.sleep(until: deadline, clock: .continuous)
      finished.signal()
    }
  }
  usleep(100_000)
  startMeeting()
  if hook { setMeetingHook() }
  for _ in 0..<2 { finished.wait() }
  return endMeeting()
}

/// On a busy machine they may wake before the meeting begins.
func check(_ name: String, hook: Bool, on executor: (any TaskExecutor)?) {
  let met = (0..<3).contains { _ in twoMeet(hook: hook, on: executor) }
  print("\(name): \(met ? "met" : "alone")")
}

@main struct Main {
  static func main() {
    // CHECK: hook: met
    check("hook", hook: true, on: nil)
    // CHECK-NEXT: executor: met
    check("executor", hook: false, on: Inline())
  }
}
