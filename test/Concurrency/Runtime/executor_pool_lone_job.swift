// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// Until executor-late-wakes, the system leaves both threads on one processor in a quarter of all processes.
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out %if without_executor-late-wakes %{ || env %env-SWIFT_POOL=1 %target-run %t/a.out || env %env-SWIFT_POOL=1 %target-run %t/a.out || env %env-SWIFT_POOL=1 %target-run %t/a.out %}
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// It compares times, and chaos makes threads wait.
// UNSUPPORTED: asan, tsan, runtime_chaos
// With one, a child begins when the task has computed.
// UNSUPPORTED: one_processor
// REQUIRES: OS=linux-gnu
// XFAIL: without_executor-lone-job && !without_executor-pool

// A single child of a task that goes on begins on another processor, request after request, although a request of
// awaited tasks has come between, which need one processor only. The other rows are guards, which pass without the
// patch: a short child does not wait either, nor does an actor that Task.immediate has called and its maker waits for,
// nor a task that a deinit starts after a task's end.

import Dispatch
import Glibc

/// The median of 40 requests, each of which rests first; a request adds how long it waited.
func delay(_ request: @escaping @Sendable (Counter) async -> Void) -> UInt64 {
  let times = (0..<40).map { _ in
    usleep(100)
    let waited = Counter()
    runBlocking(nil) { await request(waited) }
    return UInt64(waited.count)
  }
  return times.sorted()[times.count / 2]
}

/// The same for a thread that is waiting when another one signals it and computes: what the system takes.
func threadDelay() -> UInt64 {
  let times = (0..<40).map { _ in
    let begin = DispatchSemaphore(value: 0), begun = Counter()
    let thread = startThread {
      begin.wait()
      begun.add(Int(nowInNanoseconds()))
    }
    usleep(200)
    let start = nowInNanoseconds()
    begin.signal()
    compute(1_000_000)
    pthread_join(thread, nil)
    return UInt64(begun.count) - start
  }
  return times.sorted()[times.count / 2]
}

/// `end` is when it begins with the fault.
func expectSoon(end: UInt64 = 1_000_000, _ request: @escaping @Sendable (Counter) async -> Void) {
  guard processors > 1, width > 1 else { return print("one processor") }
  // Other programs may keep the processors for some time. Where a thread waits as long, nothing can be said.
  var late = 0
  for _ in 0..<20 {
    runBlocking(nil) { for _ in 0..<400 { await Task.detached {}.value } }
    let delay = delay(request), threadDelay = threadDelay()
    print("waited for \(delay) ns, a thread for \(threadDelay) ns")
    if delay < min(200_000 + 2 * threadDelay, end / 4 * 3) { return }
    if threadDelay < end / 4 { late += 1 }
  }
  if late >= 5 { fail("it waits until the task has computed") }
}

func child() {
  expectSoon(end: 400_000) { waited in
    let start = nowInNanoseconds()
    async let child: Void = {
      waited.add(Int(nowInNanoseconds() - start))
      compute(400_000)
    }()
    compute(400_000)
    await child
  }
}

func shortChild() {
  expectSoon { waited in
    let start = nowInNanoseconds()
    async let child: Void = { _ = waited.add(Int(nowInNanoseconds() - start)) }()
    compute(1_000_000)
    await child
  }
}

actor Service {
  func answer(_ answered: DispatchSemaphore) { answered.signal() }
}

func begunInside() {
  let service = Service()
  expectSoon { waited in
    let start = nowInNanoseconds()
    let answered = DispatchSemaphore(value: 0)
    let task = Task.immediate { await service.answer(answered) }
    waitFor(answered)
    waited.add(Int(nowInNanoseconds() - start))
    await task.value
  }
}

/// Starts a task when it is destroyed, and computes.
final class Owner: Sendable {
  let waited: Counter, ended: UnsafeContinuation<Void, Never>

  init(_ waited: Counter, _ ended: UnsafeContinuation<Void, Never>) {
    self.waited = waited
    self.ended = ended
  }

  deinit {
    let start = nowInNanoseconds(), waited = waited, ended = ended, parts = Counter()
    Task.detached {
      waited.add(Int(nowInNanoseconds() - start))
      if parts.add() == 2 { ended.resume() }
    }
    compute(1_000_000)
    if parts.add() == 2 { ended.resume() }
  }
}

func resultOfTask() {
  expectSoon { waited in
    await withUnsafeContinuation { ended in
      Task.detached { Owner(waited, ended) }
    }
  }
}

@main struct Main {
  static func main() {
    Row.run([
      Row(name: "child") { child() },
      Row(name: "short child") { shortChild() },
      Row(name: "begun inside") { begunInside() },
      Row(name: "result of a task") { resultOfTask() },
    ])
  }
}
