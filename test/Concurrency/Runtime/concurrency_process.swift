// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/child-process.c -o %t/child-process.o
// RUN: %target-build-swift -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/child-process.h %s %t/child-process.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// UNSUPPORTED: OS=windows-msvc, OS=wasip1, remote_run, device_run
// A sanitizer does not support a fork in a process with several threads.
// UNSUPPORTED: asan, tsan

// The unpatched runtime aborts in a deinit in place under task-locals of no task.
// XFAIL: without_tasklocal-marker-off-task

// Threads and tasks enqueue isolated deinits and tasks that inherit task-local values, and
// in the middle of that the process exits, aborts, or forks.

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif
import Synchronization

@globalActor actor Target { static let shared = Target() }

let keys = (0..<50).map { _ in TaskLocal<Int>(wrappedValue: 0) }
let enqueued = Atomic(0)
let ran = Atomic(0)
let isStopped = Atomic(false)

func count(_ counter: borrowing Atomic<Int>) { counter.add(1, ordering: .acquiringAndReleasing) }

final class OnTarget: Sendable { @Target deinit { count(ran) } }
final class OnMain: Sendable { @MainActor deinit { precondition(keys[0].get() == 0) } }

func bind(_ number: Int, _ body: () -> Void) {
  if number == 0 { return body() }
  keys[number - 1].withValue(number) { bind(number - 1, body) }
}

/// Enqueues some of each kind; returns how long to wait, in microseconds.
func enqueue() -> UInt32 {
  bind(keys.count) {
    for _ in 0..<20 {
      count(enqueued)
      _ = OnTarget()
    }
    for key in [0, 30] {
      count(enqueued)
      Task {
        precondition(keys[key].get() == key + 1)
        count(ran)
      }
    }
  }
  // As fast as they are run, more or less.
  return enqueued.load(ordering: .relaxed) - ran.load(ordering: .relaxed) > 10_000 ? 100 : 0
}

/// Starts threads and a task that enqueue, and returns in the middle of that.
func startEnqueuing() {
  for _ in 0..<3 {
#if canImport(Darwin) || canImport(Musl)
    var thread: pthread_t? = nil
#else
    var thread = pthread_t()
#endif
    let status = pthread_create(&thread, nil, { _ in
      while !isStopped.load(ordering: .relaxed) { usleep(enqueue()) }
      return nil
    }, nil)
    precondition(status == 0)
  }
  Task.detached {
    while !isStopped.load(ordering: .relaxed) {
      _ = enqueue()
      await Task.yield()
    }
  }
  while ran.load(ordering: .relaxed) < 1000 { usleep(100) }
}

/// What a child of the busy process can do: nothing that needs another thread.
func useTaskLocals(_: UnsafeRawPointer?) -> Int32 {
  var sum = 0
  bind(keys.count) {
    _ = OnMain()
    sum = keys.reduce(0) { $0 + $1.get() }
  }
  return sum == keys.count * (keys.count + 1) / 2 && keys[0].get() == 0 ? 0 : 1
}

func forkInTheMiddle(_: UnsafeRawPointer?) -> Int32 {
  startEnqueuing()
  for _ in 0..<50 {
    let result = runChild(useTaskLocals, nil)
    if result.status != 0 || result.signal != 0 {
      print("child of a busy process:", result)
      return 1
    }
  }
  isStopped.store(true, ordering: .relaxed)
  for _ in 0..<30_000 {
    let all = enqueued.load(ordering: .acquiring)
    if ran.load(ordering: .acquiring) == all && enqueued.load(ordering: .acquiring) == all {
      return 0
    }
    usleep(1000)
  }
  print("\(enqueued.load(ordering: .relaxed)) enqueued, \(ran.load(ordering: .relaxed)) run")
  return 1
}

func exitInTheMiddle(_: UnsafeRawPointer?) -> Int32 {
  startEnqueuing()
  return 7
}

func abortInTheMiddle(_: UnsafeRawPointer?) -> Int32 {
  startEnqueuing()
  abort()
}

/// A deinit, which runs while others are enqueued, ends the process.
func exitInDeinit(_: UnsafeRawPointer?) -> Int32 {
  final class Last { @Target deinit { exit(8) } }
  startEnqueuing()
  _ = Last()
  sleep(60)
  return 1
}

@main struct Main {
  static func main() {
    let cases: [(String, @convention(c) (UnsafeRawPointer?) -> Int32)] = [
      ("exit", exitInTheMiddle), ("exit in a deinit", exitInDeinit),
      ("abort", abortInTheMiddle), ("fork", forkInTheMiddle),
    ]
    for (name, body) in cases {
      var results: Set<String> = []
      for _ in 0..<10 {
        let result = runChild(body, nil)
        results.insert("\(result.status), signal \(result.signal), \(result.errorCount) bytes")
      }
      print("\(name):", results.sorted().joined(separator: "; "))
    }
  }
}

// CHECK: exit: 7, signal 0, 0 bytes{{$}}
// CHECK: exit in a deinit: 8, signal 0, 0 bytes{{$}}
// CHECK: abort: 0, signal 6, 0 bytes{{$}}
// CHECK: fork: 0, signal 0, 0 bytes{{$}}
