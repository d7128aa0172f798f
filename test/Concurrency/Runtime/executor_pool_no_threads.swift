// RUN: %empty-directory(%t)
// RUN: %target-build-swift -target %target-future-triple -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=4 %target-run %t/a.out %if !without_executor-timers %{sleep%} | %FileCheck %s

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu
// The pool alone ends the process. (Dispatch does not.)
// XFAIL: without_executor-no-threads && !without_executor-pool
// A sanitizer reserves address space, and ends the process when it gets none.
// UNSUPPORTED: asan, tsan

// When no thread can be made, those that are there run the jobs. If there is none, Dispatch
// gets the job, and tries again until there is one.

import Glibc
import Synchronization

/// Leave no room for the stack of a thread, which takes 8 MB, but some for tasks and for the stack of the first thread.
func limitMemory(_ isLimited: Bool) {
  var limit = rlimit(rlim_cur: rlim_t.max, rlim_max: rlim_t.max)
  if isLimited {
    let file = fopen("/proc/self/statm", "r")!
    var text = [CChar](repeating: 0, count: 64)
    fgets(&text, 64, file)
    fclose(file)
    let pages = Int(String(cString: text).split(separator: " ")[0])!
    limit.rlim_cur = rlim_t(pages * sysconf(Int32(_SC_PAGESIZE)) + 6 << 20)
  }
  precondition(setrlimit(__rlimit_resource_t(9 /* RLIMIT_AS */), &limit) == 0)
}

/// There is no memory for the stack of a thread, and none that the C library has kept.
func checkNoThreads() {
  for _ in 0..<16 {
    var thread = pthread_t()
    if pthread_create(&thread, nil, { _ in while true { pause() } }, nil) == EAGAIN { return }
  }
  preconditionFailure("threads can be made")
}

/// Few children: with so little memory, malloc may take a page for each of their allocations.
func work() async -> Int {
  await withTaskGroup(of: Int.self) { group in
    for number in 0..<200 {
      group.addTask {
        await Task.yield()
        return number
      }
    }
    return await group.reduce(0, +)
  }
}

let slept = Atomic(false)
let sums = [0, 1, 2].map { _ in Sum() }
final class Sum: Sendable { let value = Atomic(0) }

func wait(for sum: Sum) -> Bool {
  for _ in 0..<30_000 where sum.value.load(ordering: .relaxed) == 0 { usleep(1000) }
  return sum.value.load(ordering: .relaxed) == 19_900
}

/// A task sleeps when the thread that Dispatch has made for it was the last one for some time.
func sleepWithoutThreads() {
  var other = pthread_t()
  pthread_create(&other, nil, { _ in
    usleep(300_000)
    limitMemory(false)
    // It stays, so that its stack serves no other thread.
    for _ in 0..<10_000 where !slept.load(ordering: .relaxed) { usleep(1000) }
    return nil
  }, nil)
  limitMemory(true)
  Task.detached {
    limitMemory(true)
    try? await Task.sleep(nanoseconds: 50_000_000)
    slept.store(true, ordering: .relaxed)
  }
  usleep(500_000)
  limitMemory(false)
  pthread_join(other, nil)
}

let isLimited = Atomic(false)

@main struct Main {
  static func main() {
    // Before executor-timers, Dispatch needs a thread and memory of its own for a timer.
    let sleeps = CommandLine.arguments.count > 1
    if sleeps { sleepWithoutThreads() }
    // CHECK: slept without threads: true
    print("slept without threads:", !sleeps || slept.load(ordering: .relaxed))

    // There is no worker. Another thread takes the limit away: Dispatch waits for that.
    var thread = pthread_t()
    pthread_create(&thread, nil, { _ in
      while !isLimited.load(ordering: .acquiring) { usleep(1000) }
      usleep(300_000)
      limitMemory(false)
      return nil
    }, nil)
    limitMemory(true)
    checkNoThreads()
    isLimited.store(true, ordering: .releasing)
    Task.detached { sums[0].value.store(await work(), ordering: .relaxed) }
    // CHECK: without threads: true
    print("without threads:", wait(for: sums[0]))
    pthread_join(thread, nil)

    // Now there is one, at least.
    usleep(300_000)
    Task.detached { sums[1].value.store(await work(), ordering: .relaxed) }
    // CHECK: with threads: true
    print("with threads:", wait(for: sums[1]))

    limitMemory(true)
    checkNoThreads()
    Task.detached { sums[2].value.store(await work(), ordering: .relaxed) }
    // CHECK: with those that are there: true
    print("with those that are there:", wait(for: sums[2]))
  }
}
