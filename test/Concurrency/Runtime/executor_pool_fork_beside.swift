// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -target %target-future-triple -parse-as-library %import-libdispatch %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out sleeps
// RUN: %if !without_executor-rescue %{ env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out stand-in %}
// RUN: %if !without_executor-dispatch %{ env %env-SWIFT_POOL=1 %target-run %t/a.out main-sync %}

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// A sanitizer has threads and locks of its own, which a child does not get back.
// UNSUPPORTED: asan, tsan
// Without it, the child waits for ever for threads that only its parent has.
// UNSUPPORTED: without_executor-fork

// A process forks while its other threads are anywhere in the runtime. What they have, locks above all, the child does not
// wait for.

import Dispatch
import Glibc
import Synchronization

@_silgen_name("fork") func cFork() -> Int32

/// Ends the process if the child does not end with 5.
func checkChild(_ child: Int32, _ what: String) {
  var status: Int32 = 0
  waitpid(child, &status, 0)
  precondition(status == 5 << 8, "\(what): \(status)")
}

func wait(_ what: String, until isTrue: () -> Bool) {
  for _ in 0..<20_000 where !isTrue() { usleep(1_000) }
  precondition(isTrue(), what)
}

let ended = Atomic(0)
let mayEnd = Atomic(false), isBlocked = Atomic(false)

/// Sleepers of the parent are cancelled in the child while other threads go to sleep and wake.
func sleeps() {
  let sleepers = (0..<100).map { _ in
    Task.detached {
      try? await Task.sleep(nanoseconds: 600_000_000_000)
      ended.add(1, ordering: .relaxed)
    }
  }
  for _ in 0..<200 {
    Task.detached { while true { try await Task.sleep(nanoseconds: 100_000) } }
  }
  usleep(100_000)
  for round in 0..<200 {
    let child = cFork()
    if child == 0 {
      alarm(30)
      for sleeper in sleepers { sleeper.cancel() }
      wait("sleepers end") { ended.load(ordering: .relaxed) == sleepers.count }
      _exit(5)
    }
    checkChild(child, "round \(round)")
  }
}

/// A job on a thread that was added for a blocked one forks. That thread is the first one of the child, and must stay.
func standIn() {
  Task.detached {
    isBlocked.store(true, ordering: .releasing)
    while !mayEnd.load(ordering: .acquiring) { usleep(10_000) }
  }
  wait("a job blocks") { isBlocked.load(ordering: .acquiring) }
  Task.detached {
    let child = cFork()
    if child == 0 {
      alarm(30)
      try? await Task.sleep(nanoseconds: 1_500_000_000)
      var text = [CChar](repeating: 0, count: 4096)
      _exit(readlink("/proc/self/exe", &text, text.count) > 0 ? 5 : 6)
    }
    checkChild(child, "stand-in")
    ended.store(1, ordering: .relaxed)
  }
  wait("the child ends") { ended.load(ordering: .relaxed) == 1 }
  mayEnd.store(true, ordering: .releasing)
}

/// Threads of the parent wait in DispatchQueue.main.sync(). Their blocks are not the child's.
@MainActor func mainSync() async {
  for _ in 0..<2 {
    var thread = pthread_t()
    pthread_create(&thread, nil, { _ in
      while true { DispatchQueue.main.sync { _ = ended.add(1, ordering: .relaxed) } }
    }, nil)
  }
  for round in 0..<300 {
    await Task.detached {}.value
    let child = cFork()
    if child == 0 {
      alarm(30)
      let before = ended.load(ordering: .relaxed)
      for _ in 0..<3 { await Task.detached {}.value }
      _exit(ended.load(ordering: .relaxed) == before ? 5 : 6)
    }
    checkChild(child, "round \(round)")
  }
}

@main struct Main {
  @MainActor static func main() async {
    alarm(120)
    switch CommandLine.arguments[1] {
    case "sleeps": sleeps()
    case "stand-in": standIn()
    case "main-sync": await mainSync()
    default: fatalError()
    }
  }
}
