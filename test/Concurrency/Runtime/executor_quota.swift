// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/cpu-quota.c -o %t/quota.o
// RUN: %target-build-swift -O -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/cpu-quota.h %s %t/quota.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %{python} %S/Inputs/cpu-quota.py %t/groups

// Of eight processors. No quota, or none that can be read.
// RUN: env %env-CPU_QUOTA_FOLDER=%t/groups/none %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out jobs 8 8
// RUN: env %env-CPU_QUOTA_FOLDER=%t/groups/empty %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out jobs 8 8
// RUN: env %env-CPU_QUOTA_FOLDER=%t/groups/unlimited %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out jobs 8 8
// RUN: env %env-CPU_QUOTA_FOLDER=%t/groups/large %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out jobs 8 8
// RUN: env %env-CPU_QUOTA_FOLDER=%t/groups/broken %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out jobs 8 8
// RUN: env %env-CPU_QUOTA_FOLDER=%t/groups/broken %env-SWIFT_POOL=0 %target-run %t/a.out jobs 8 8
// A quota.
// RUN: env %env-CPU_QUOTA_FOLDER=%t/groups/rounded-up %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out jobs 3 3
// RUN: env %env-CPU_QUOTA_FOLDER=%t/groups/small %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out jobs 1 1
// RUN: env %env-CPU_QUOTA_FOLDER=%t/groups/outer %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out jobs 3 3
// RUN: env %env-CPU_QUOTA_FOLDER=%t/groups/container %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out jobs 3 3
// RUN: env %env-CPU_QUOTA_FOLDER=%t/groups/old %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out jobs 3 3
// RUN: env %env-CPU_QUOTA_FOLDER=%t/groups/old-together %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out jobs 3 3
// With Dispatch. One that blocks leaves another.
// RUN: env %env-CPU_QUOTA_FOLDER=%t/groups/outer %env-SWIFT_POOL=0 %target-run %t/a.out jobs 3 3
// RUN: env %env-CPU_QUOTA_FOLDER=%t/groups/old %env-SWIFT_POOL=0 %target-run %t/a.out jobs 3 3
// RUN: env %env-CPU_QUOTA_FOLDER=%t/groups/small %env-SWIFT_POOL=0 %target-run %t/a.out jobs 2 2
// The variables have the last word.
// RUN: env %env-CPU_QUOTA_FOLDER=%t/groups/outer %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_CPU_QUOTA=0 %target-run %t/a.out jobs 8 8
// RUN: env %env-CPU_QUOTA_FOLDER=%t/groups/outer %env-SWIFT_POOL=0 %env-SWIFT_CPU_QUOTA=0 %target-run %t/a.out jobs 8 8
// RUN: env %env-CPU_QUOTA_FOLDER=%t/groups/outer %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL_WIDTH=5 %target-run %t/a.out jobs 5 5
// RUN: env %env-CPU_QUOTA_FOLDER=%t/groups/outer %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL_WIDTH=2 %target-run %t/a.out jobs 2 2
// The affinity mask has fewer.
// RUN: env %env-CPU_QUOTA_FOLDER=%t/groups/outer %env-CPU_QUOTA_PROCESSORS=2 %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out jobs 2 2
// While it runs. (With chaos's delays, jobs come too seldom for so many workers at a time.)
// RUN: %if !runtime_chaos %{ env %env-CPU_QUOTA_FOLDER=%t/groups/follows %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out follows %}
// RUN: env %env-CPU_QUOTA_FOLDER=%t/groups/blocks %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out blocks
// RUN: env %env-CPU_QUOTA_FOLDER=%t/groups/idle %env-SWIFT_POOL=1 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out idle

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// The sanitizers' runtimes have functions of their own instead of those of this test.
// UNSUPPORTED: asan, tsan
// XFAIL: without_executor-quota

// The number of jobs that run at a time follows the quota of processor time. The
// cgroups are made up: the program has functions of its own to open their files.

import Dispatch
import Glibc
import Synchronization

let running = Atomic<Int>(0), most = Atomic<Int>(0), finished = Atomic<Int>(0)
let usesPool = getenv("SWIFT_POOL").map { String(cString: $0) } == "1"

func now() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

/// With Dispatch, jobs sleep: it adds no threads for those. With the pool they spin.
func occupy(milliseconds: UInt64) {
  let count = running.add(1, ordering: .relaxed).newValue
  _ = most.max(count, ordering: .relaxed)
  if usesPool {
    let end = now() + milliseconds * 1_000_000
    while now() < end {}
  } else {
    usleep(UInt32(milliseconds) * 1000)
  }
  running.subtract(1, ordering: .relaxed)
  finished.add(1, ordering: .relaxed)
}

func start(_ count: Int, milliseconds: UInt64) -> [Task<Void, Never>] {
  (0..<count).map { _ in Task.detached { occupy(milliseconds: milliseconds) } }
}

/// How many of enough jobs run at a time.
func runJobs() async -> Int {
  most.store(0, ordering: .relaxed)
  for task in start(64, milliseconds: 3) { await task.value }
  return most.load(ordering: .relaxed)
}

/// Enough jobs wait all the time until so many run at a time, and no more for a while.
func become(_ wanted: Int) async {
  let end = now() + 20_000_000_000
  var seen = 0
  while now() < end {
    seen = await runJobs()
    if seen == wanted { return }
  }
  fatalError("\(seen) at a time, not \(wanted)")
}

@main struct Main {
  static func main() async {
    let arguments = CommandLine.arguments
    switch arguments[1] {
    case "jobs":
      let least = Int(arguments[2])!, atMost = Int(arguments[3])!
      // A worker that was not needed yet is started while others wait. On a busy machine one
      // may seem to be blocked, and gets a stand-in.
      var seen = 0
      for _ in 0..<5 where seen < least || seen > atMost {
        most.store(0, ordering: .relaxed)
        for _ in 0..<20 where most.load(ordering: .relaxed) < least {
          for task in start(32, milliseconds: 10) { await task.value }
        }
        seen = most.load(ordering: .relaxed)
      }
      if seen < least || seen > atMost { fatalError("\(seen) at a time") }

    case "follows":
      await become(3)
      writeQuota("/sys/fs/cgroup/a/cpu.max", "550000 100000\n")
      await become(6)
      writeQuota("/sys/fs/cgroup/a/cpu.max", "100000 100000\n")
      await become(1)
      writeQuota("/sys/fs/cgroup/a/cpu.max", "max 100000\n")
      await become(8)
      setProcessors(4)
      await become(4)
      writeQuota("/sys/fs/cgroup/a/cpu.max", "200000 100000\n")
      await become(2)
      setProcessors(1)
      await become(1)
      // What cannot be read, as no descriptor is free, is followed later.
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(7 /* RLIMIT_NOFILE */), &limit)
      let descriptors = limit.rlim_cur
      limit.rlim_cur = 3
      setrlimit(__rlimit_resource_t(7), &limit)
      setProcessors(8)
      var seen = 0
      let end = now() + 2_500_000_000
      while now() < end {
        seen = max(seen, await runJobs())
      }
      limit.rlim_cur = descriptors
      setrlimit(__rlimit_resource_t(7), &limit)
      if seen > 4 { fatalError("\(seen) at a time without descriptors") }
      await become(2)
      // What is lost is as if there were no quota.
      writeQuota("/proc/self/cgroup", "nothing")
      setProcessors(8)
      await become(8)

    case "blocks":
      // With a place for one, jobs that wait for later ones go on, as before.
      await become(3)
      writeQuota("/sys/fs/cgroup/a/cpu.max", "50000 100000\n")
      await become(1)
      for _ in 0..<3 {
        let semaphores = (0..<16).map { _ in DispatchSemaphore(value: 0) }
        let blocked = semaphores.map { semaphore in Task.detached { semaphore.wait() } }
        let others = semaphores.map { semaphore in Task.detached { _ = semaphore.signal() } }
        for task in blocked + others { await task.value }
      }
      await become(1)
      // Workers that sleep, as they are too many, keep no time and no job.
      for task in (0..<100).map({ _ in Task.detached { try! await Task.sleep(for: .milliseconds(5)) } }) {
        await task.value
      }

    default:
      // Files are read only while jobs wait, and at most once a second: one read is
      // of three files here.
      await become(3)
      usleep(300_000)
      func limit(since begin: UInt64) -> Int { 3 * (Int((now() - begin) / 1_000_000_000) + 2) }
      let idleBegin = now(), before = Int(quotaReads())
      for _ in 0..<30 {
        usleep(50_000)
        await Task.detached {}.value
      }
      let idle = Int(quotaReads()) - before
      precondition(idle <= limit(since: idleBegin), "\(idle)")
      let begin = now(), busyBefore = Int(quotaReads())
      while now() - begin < 2_500_000_000 {
        for task in start(64, milliseconds: 1) { await task.value }
      }
      let busy = Int(quotaReads()) - busyBefore
      precondition(busy >= 3 && busy <= limit(since: begin), "\(busy)")
    }
    print("done")
  }
}
