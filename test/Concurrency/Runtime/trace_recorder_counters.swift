// RUN: %empty-directory(%t)
// RUN: %target-build-swift %import-libdispatch -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_TRACE=1 %target-run %t/a.out > %t/log
// RUN: %FileCheck %s < %t/log
// RUN: env %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_TRACE=%t/trace-%%p %target-run %t/a.out > %t/log
// RUN: %FileCheck %s < %t/log
// ThreadSanitizer lets no child of a fork start threads, as the pool does there.
// RUN: %if !tsan %{ env %env-SWIFT_CHAOS_SLEEP=0 %env-SWIFT_POOL=1 %env-SWIFT_TRACE=1 %target-run %t/a.out pool > %t/log %}
// RUN: %if !tsan %{ %FileCheck %s --check-prefixes=CHECK,POOL < %t/log %}

// Threads that have ended keep their counts.
// CHECK:      64 threads: created 6400 live 0 cancelled 0 jobs 6400 hops 0 asleep 0
// CHECK-NEXT: suspended: created 50 live 50 cancelled 0 jobs 50 hops 0 asleep 0
// CHECK-NEXT: cancelled: created 0 live 0 cancelled 50 jobs 0 hops 0 asleep 0
// CHECK-NEXT: resumed: created 0 live -50 cancelled 0 jobs 50 hops 0 asleep 0
// CHECK-NEXT: an actor: created 1 live 0 cancelled 0 jobs 1 hops 200 asleep 0
// CHECK-NEXT: sleep: created 5 live 5 cancelled 0 jobs 5 hops 0 asleep 5
// CHECK-NEXT: cancelled sleep: created 0 live -5 cancelled 5 jobs 5 hops 0 asleep -5
// CHECK-NEXT: slept: created 15 live 0 cancelled 0 jobs 30 hops 0 asleep 0
// Those who wait for an actor are counted, and not who lets them run.
// CHECK-NEXT: contended: created 10 live 0 cancelled 0
// CHECK-NEXT: done
// A child of fork has its parent's tasks, which may end in it.
// CHECK-NEXT: child: created 1 live 1 cancelled 1
// CHECK-NEXT: in the child: live 3
// POOL: steals, wakes and stand-ins

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// The child of a fork leaks what threads of its parent would have freed.
// UNSUPPORTED: asan
// XFAIL: without_tracing-recorder

// A program that knows what it does finds the same numbers in the counters, with
// Dispatch and with the pool.

import Dispatch
import Glibc

/// swift_trace_counters, as words.
struct Counters {
  var words = [UInt64](repeating: 0, count: 40)
  var created: Int { self[2] }
  var live: Int { self[2] - self[3] }
  var cancelled: Int { self[4] }
  var enqueued: Int { self[5] }
  var jobs: Int { self[6] }
  var hops: Int { self[7] }
  var steals: Int { self[8] }
  var wakes: Int { self[9] }
  var standIns: Int { self[10] }
  var asleep: Int { self[12] - self[13] - self[14] }
  var waits: Int { (15..<39).reduce(0) { $0 + self[$1] } }
  /// What the waits add up to, in nanoseconds; and at least and at most, by their histogram.
  var waited: Int { self[39] }
  var leastWaited: Int { (16..<39).reduce(0) { $0 + self[$1] * 1000 << ($1 - 16) } }
  var mostWaited: Int { (15..<39).reduce(0) { $0 + self[$1] * 1000 << ($1 - 15) } }
  subscript(_ index: Int) -> Int { Int(words[index]) }

  static let read = unsafeBitCast(
    dlsym(dlopen("libswift_Trace.so", RTLD_NOW | RTLD_NOLOAD), "swift_concurrency_getCounters")!,
    to: (@convention(c) (UnsafeMutableRawPointer) -> Bool).self)

  static func now() -> Counters {
    var counters = Counters()
    counters.words.withUnsafeMutableBytes { bytes in
      bytes.storeBytes(of: UInt32(bytes.count), as: UInt32.self)
      precondition(read(bytes.baseAddress!))
      precondition(bytes.load(as: UInt32.self) == UInt32(bytes.count))
    }
    return counters
  }
}

actor Counter {
  var count = 0
  func add() { count += 1 }
  func addSlowly() { usleep(5_000); count += 1 }
}

func find<T>(_ name: String, _: T.Type) -> T { unsafeBitCast(dlsym(nil, name)!, to: T.self) }

final class Continuations: @unchecked Sendable {
  var all: [UnsafeContinuation<Void, Never>] = []
  let queue = DispatchQueue(label: "continuations")
  var count: Int { queue.sync { all.count } }
}

/// A task of this thread: what is counted meanwhile is what the others do.
func wait(_ what: String, until isDone: () -> Bool) {
  for _ in 0..<4_000 where !isDone() { usleep(5_000) }
  precondition(isDone(), what)
}

/// Tells what has been counted since the last call, once as much is there.
func tell(_ what: String, _ last: inout Counters, untilLive live: Int, jobs: Int) {
  var now = last
  wait(what) {
    now = Counters.now()
    return now.live - last.live == live && now.jobs - last.jobs >= jobs && now.asleep >= 0
  }
  print(
    "\(what): created", now.created - last.created, "live", now.live - last.live, "cancelled",
    now.cancelled - last.cancelled, "jobs", now.jobs - last.jobs, "hops", now.hops - last.hops, "asleep",
    now.asleep - last.asleep)
  // Each wait that is over is in the histogram, once.
  precondition(now.waits - last.waits == now.jobs - last.jobs, "\(now.waits - last.waits)")
  // Their sum is cut to a nanosecond, at both times.
  precondition(now.waited - last.waited >= now.leastWaited - last.leastWaited - 1, "\(now.waited)")
  precondition(now.waited - last.waited <= now.mostWaited - last.mostWaited + 1, "\(now.waited)")
  precondition(now.enqueued - last.enqueued == now.jobs - last.jobs, "\(now.enqueued - last.enqueued)")
  last = now
}

func startThread(_ body: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?) -> pthread_t {
  var thread = pthread_t()
  pthread_create(&thread, nil, body, nil)
  return thread
}

// Tasks of these are not kept by anything but the runtime when they have ended.
func suspendTasks(_ continuations: Continuations) -> [Task<Void, Never>] {
  (0..<50).map { _ in
    Task.detached {
      await withUnsafeContinuation { continuation in
        continuations.queue.sync { continuations.all.append(continuation) }
      }
    }
  }
}

@main struct Main {
  static func main() {
    setlinebuf(stdout)
    let continuations = Continuations()
    var last = Counters.now()

    let threads = (0..<64).map { _ in
      startThread { _ in
        for _ in 0..<100 { Task.detached {} }
        return nil
      }
    }
    for thread in threads { pthread_join(thread, nil) }
    tell("64 threads", &last, untilLive: 0, jobs: 6_400)

    var tasks = suspendTasks(continuations)
    wait("continuations") { continuations.count == 50 }
    tell("suspended", &last, untilLive: 50, jobs: 50)
    for task in tasks {
      task.cancel()
      task.cancel()
    }
    tell("cancelled", &last, untilLive: 0, jobs: 0)
    tasks = []
    for continuation in continuations.all { continuation.resume() }
    tell("resumed", &last, untilLive: -50, jobs: 50)

    // To the actor and back, without a wait: nobody else is there.
    Task.detached {
      let counter = Counter()
      for _ in 0..<100 { await counter.add() }
    }
    wait("hops") { Counters.now().hops - last.hops == 200 }
    tell("an actor", &last, untilLive: 0, jobs: 1)

    var sleepers = (0..<5).map { _ in Task.detached { try? await Task.sleep(nanoseconds: 600_000_000_000) } }
    wait("sleepers") { Counters.now().asleep - last.asleep == 5 }
    tell("sleep", &last, untilLive: 5, jobs: 5)
    for sleeper in sleepers { sleeper.cancel() }
    sleepers = []
    tell("cancelled sleep", &last, untilLive: -5, jobs: 5)
    // Nothing is told in between: on a busy machine some might be awake by then.
    for _ in 0..<15 { Task.detached { try? await Task.sleep(nanoseconds: 2_000_000_000) } }
    tell("slept", &last, untilLive: 0, jobs: 30)

    let counter = Counter()
    for _ in 0..<10 { Task.detached { await counter.addSlowly() } }
    wait("contended") { Counters.now().created - last.created == 10 }
    tell("contended", &last, untilLive: 0, jobs: 10)
    print("done")

    // Two tasks that the child has, too.
    continuations.all = []
    _ = Task.detached {
      await withUnsafeContinuation { continuation in
        continuations.queue.sync { continuations.all.append(continuation) }
      }
    }
    wait("a task") { continuations.count == 1 }
    _ = Task.detached { try? await Task.sleep(nanoseconds: 600_000_000_000) }
    wait("a sleeper") { Counters.now().asleep == 1 }
    fflush(nil)
    let child = find("fork", (@convention(c) () -> pid_t).self)()
    if child == 0 {
      let first = Counters.now()
      precondition(first.jobs == 0 && first.cancelled == 0 && first.asleep == 1)
      let task = Task.detached { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
      task.cancel()
      let now = Counters.now()
      print(
        "child: created", now.created - first.created, "live", now.live - first.live, "cancelled", now.cancelled)
      print("in the child: live", now.live)
      fflush(nil)
      _exit(0)
    }
    var status: Int32 = 0
    precondition(waitpid(child, &status, 0) == child && status == 0, "\(status)")

    if CommandLine.arguments.count > 1 {
      // Jobs that block: others take their place, and what is in their queues.
      last = Counters.now()
      Task.detached {
        for _ in 0..<40 { Task.detached { usleep(50_000) } }
        usleep(50_000)
      }
      wait("pool") {
        let now = Counters.now()
        return now.jobs - last.jobs >= 41 && now.live == last.live
      }
      let now = Counters.now()
      precondition(now.steals > last.steals && now.wakes > last.wakes && now.standIns > last.standIns)
      print("steals, wakes and stand-ins")
    }
  }
}
