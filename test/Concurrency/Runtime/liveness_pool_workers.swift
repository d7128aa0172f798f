// RUN: %empty-directory(%t)
// RUN: %target-build-swift %import-libdispatch -parse-as-library -I %S/../../../liveness/include %s -o %t/a.out
// RUN: %target-codesign %t/a.out

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

// The threads of the runtime's own pool are watched as those of Dispatch are.

import CLiveness
import Dispatch
import Glibc

func spin(seconds: Double) {
  let end = DispatchTime.now().uptimeNanoseconds + UInt64(seconds * 1e9)
  while DispatchTime.now().uptimeNanoseconds < end {}
}

func poolStalls() -> UInt64 {
  var counts = swift_liveness_counts(); counts.size = MemoryLayout<swift_liveness_counts>.size
  swift_liveness_getCounts(&counts)
  return counts.pool_stalls
}

@main struct Main {
  static func main() async {
    setvbuf(stdout, nil, _IOLBF, 0)
    switch CommandLine.arguments[1] {

    // RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=2 %env-SWIFT_LIVENESS_TIMEOUT=500 %target-run %t/a.out stuck 2>&1 | %FileCheck --check-prefix=STUCK %s
    // The other worker goes on, so the pool is not stalled.
    // STUCK-NOT: stalled
    // STUCK: liveness: {{[-0-9T:.]+Z}} thread [[THREAD:[0-9]+]] "swift-pool-{{[0-9]+}}", task [[TASK:[0-9]+]] "stuck", blocked, stuck for {{[5-9][0-9][0-9]|1[0-9][0-9][0-9]}} ms
    // STUCK-NEXT: in closure #{{[0-9]+}} in static Main.main()
    // STUCK-NEXT: waits in clock_nanosleep
    // STUCK-NOT: stalled
    // STUCK: thread [[THREAD]], task [[TASK]], moves again after
    // STUCK: done
    case "stuck":
      let stuck = Task.detached(name: "stuck") { usleep(2_500_000) }
      while true {
        try? await Task.sleep(nanoseconds: 20_000_000)
        if await Task.detached(operation: { true }).value, DispatchTime.now() > deadline { break }
      }
      await stuck.value
      try? await Task.sleep(nanoseconds: 200_000_000)

    // ThreadSanitizer needs 0.1 s and more for each of 258 reports that come before the one of the pool.
    // RUN: %if !tsan %{ env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=2 %env-SWIFT_LIVENESS_TIMEOUT=400 %target-run %t/a.out blocked 2>&1 | %FileCheck --check-prefix=BLOCKED %s %}
    // As many jobs as the pool has threads at most, and more that wait.
    // BLOCKED: "waiter {{[0-9]+}}", blocked, stuck for {{[0-9]+}} ms
    // BLOCKED: liveness: {{[-0-9T:.]+Z}} the whole pool is stalled: no thread took a job that was queued {{[0-9]+}} ms ago
    // BLOCKED: live tasks
    // BLOCKED: "waiter {{[0-9]+}}", running
    // BLOCKED: "waiter {{[0-9]+}}", enqueued on the pool
    // BLOCKED: the pool takes jobs again after
    // BLOCKED: done
    case "blocked":
      let semaphore = DispatchSemaphore(value: 0), started = DispatchSemaphore(value: 0)
      let waiters = (0..<300).map { i in
        Task.detached(name: "waiter \(i)") {
          started.signal()
          semaphore.wait()
        }
      }
      DispatchQueue.global().async {
        // The width, and 256 more: all that the pool has, with the one that runs this.
        for _ in 0..<257 { started.wait() }
        // With a sanitizer, and beside other tests, 258 reports take long.
        for _ in 0..<80 where poolStalls() == 0 { usleep(100_000) }
        // The list.
        usleep(1_000_000)
        for _ in 0..<300 { semaphore.signal() }
      }
      for waiter in waiters { await waiter.value }
      try? await Task.sleep(nanoseconds: 400_000_000)

    // RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=2 %env-SWIFT_LIVENESS_TIMEOUT=400 %target-run %t/a.out spinning 2>&1 | %FileCheck --check-prefix=SPINNING %s
    // SPINNING-DAG: "swift-pool-{{[0-9]+}}", task {{[0-9]+}} "spins", {{running|starved of processor time}}, stuck for
    // SPINNING-DAG: the whole pool is stalled
    // SPINNING: "queued", enqueued on the pool
    // SPINNING: the pool takes jobs again after
    // SPINNING: done
    case "spinning":
      let started = DispatchSemaphore(value: 0)
      for _ in 0..<2 {
        Task.detached(name: "spins") {
          started.signal()
          spin(seconds: 1.5)
        }
      }
      for _ in 0..<2 { started.wait() }
      await Task.detached(name: "queued") {}.value
      try? await Task.sleep(nanoseconds: 400_000_000)

    default: fatalError()
    }
    print("done")
  }
}

let deadline = DispatchTime.now() + 2.2
