// RUN: %empty-directory(%t)
// RUN: %target-build-swift %import-libdispatch -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=200 %target-run %t/a.out 2>&1 | %FileCheck %s

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

// Each way of a job to keep its thread: a sleep, a loop, no processor time, a lock,
// two threads in a deadlock. Each is reported once, with what it does, and so is its end.

import Dispatch
import Glibc

let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 2)

actor Sleeper {
  func sleepLong() { usleep(900_000) }
}

func loopLong() {
  let end = DispatchTime.now().uptimeNanoseconds + 900_000_000
  while DispatchTime.now().uptimeNanoseconds < end {}
}

// Swift does not see what is no part of POSIX.
let setAffinity = unsafeBitCast(
  dlsym(nil, "sched_setaffinity"),
  to: (@convention(c) (pid_t, Int, UnsafeRawPointer) -> Int32).self)
let getAffinity = unsafeBitCast(
  dlsym(nil, "sched_getaffinity"),
  to: (@convention(c) (pid_t, Int, UnsafeMutableRawPointer) -> Int32).self)

/// As loopLong, on a processor that other threads use, which always go first.
func starve() {
  var all = [UInt8](repeating: 0, count: 1024)
  precondition(getAffinity(0, all.count, &all) == 0)
  var one = [UInt8](repeating: 0, count: all.count)
  let byte = all.firstIndex { $0 != 0 }!
  one[byte] = 1 << all[byte].trailingZeroBitCount
  precondition(setAffinity(0, one.count, one) == 0)
  // They inherit the processor, but not what comes next.
  let others = (0..<2).map { _ in
    var thread = pthread_t()
    pthread_create(&thread, nil, { _ in loopLong(); return nil }, nil)
    return thread
  }
  var none = sched_param()
  let idle: Int32 = 5  // SCHED_IDLE
  precondition(sched_setscheduler(0, idle, &none) == 0)
  loopLong()
  // Only root may go back. Else the thread stays one that gives way to others.
  sched_setscheduler(0, SCHED_OTHER, &none)
  precondition(setAffinity(0, all.count, all) == 0)
  for thread in others { pthread_join(thread, nil) }
}

/// Takes the first lock, and the second when the other thread has that one.
func lockBoth(_ first: Int, _ second: Int, _ taken: DispatchSemaphore,
              _ other: DispatchSemaphore) -> Bool {
  pthread_mutex_lock(lock + first)
  taken.signal()
  other.wait()
  var limit = timespec()
  clock_gettime(CLOCK_REALTIME, &limit)
  limit.tv_sec += first == 0 ? 1 : 3
  // The one that gives up first frees the other one.
  let got = pthread_mutex_timedlock(lock + second, &limit) == 0
  if got { pthread_mutex_unlock(lock + second) }
  pthread_mutex_unlock(lock + first)
  return got
}

/// Until the monitor has looked again.
func settle() async { try? await Task.sleep(nanoseconds: 1_000_000_000) }

@main struct Main {
  static func main() async {
    pthread_mutex_init(lock, nil)
    pthread_mutex_init(lock + 1, nil)
    setvbuf(stdout, nil, _IOLBF, 0)

    // CHECK: sleep
    // CHECK-NEXT: liveness: {{[-0-9T:.]+Z}} thread [[SLEEPER:[0-9]+]] {{.*}} task [[TASK:[0-9]+]] "sleeper" on {{.*}}Sleeper 0x{{.*}}, blocked, stuck for {{[2-9][0-9][0-9]}} ms
    // CHECK: waits in clock_nanosleep, called by Sleeper.sleepLong()
    // CHECK: stuck for {{[4-9][0-9][0-9]}} ms
    // CHECK: liveness: {{[-0-9T:.]+Z}} thread [[SLEEPER]], task [[TASK]], moves again after {{[0-9]+}} ms
    print("sleep")
    let sleeper = Sleeper()
    await Task.detached(name: "sleeper") { await sleeper.sleepLong() }.value
    await settle()

    // CHECK: loop
    // CHECK-NEXT: liveness: {{[-0-9T:.]+Z}} thread {{.*}} task {{[0-9]+}} "looper", {{running|starved of processor time}}, stuck for
    // CHECK-NEXT: in closure #{{[0-9]+}} in static Main.main()
    // CHECK: moves again after
    print("loop")
    await Task.detached(name: "looper") { loopLong() }.value
    await settle()

    // CHECK: starve
    // CHECK-NEXT: liveness: {{[-0-9T:.]+Z}} thread {{.*}} task {{[0-9]+}} "starving", starved of processor time, stuck for
    // CHECK: moves again after
    print("starve")
    await Task.detached(name: "starving") { starve() }.value
    await settle()

    // CHECK: lock
    // CHECK-NEXT: liveness: {{[-0-9T:.]+Z}} thread {{.*}} "locker", blocked, stuck for
    // CHECK: waits in futex
    // CHECK: moves again after
    print("lock")
    pthread_mutex_lock(lock)
    let locker = Task.detached(name: "locker") { () -> Int32 in
      pthread_mutex_lock(lock)
      return pthread_mutex_unlock(lock)
    }
    try? await Task.sleep(nanoseconds: 900_000_000)
    pthread_mutex_unlock(lock)
    _ = await locker.value
    await settle()

    // CHECK: deadlock
    // CHECK-NEXT: liveness: {{[-0-9T:.]+Z}} thread {{.*}} "{{left|right}}", blocked, stuck for
    // CHECK: waits in futex
    // CHECK: other threads:
    // CHECK-NEXT: thread {{.*}} "{{left|right}}", blocked, {{busy|stuck}} for
    // CHECK: liveness: {{[-0-9T:.]+Z}} thread {{.*}} "{{left|right}}", blocked, stuck for
    // CHECK: moves again after
    // CHECK: moves again after
    print("deadlock")
    let a = DispatchSemaphore(value: 0), b = DispatchSemaphore(value: 0)
    async let left = Task.detached(name: "left") { lockBoth(0, 1, a, b) }.value
    async let right = Task.detached(name: "right") { lockBoth(1, 0, b, a) }.value
    let got = await [left, right]
    await settle()

    // CHECK: done [false, true]
    print("done", got)
  }
}
