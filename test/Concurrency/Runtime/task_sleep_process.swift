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
// REQUIRES: OS=linux-gnu
// A sanitizer does not support a fork in a process with several threads.
// UNSUPPORTED: asan, tsan

// A process with sleeping tasks exits, forks, is stopped and goes on, and lives
// on without its main thread.

import Dispatch
import Glibc
import Synchronization

@_silgen_name("fork") func forkProcess() -> pid_t

let woken = Atomic<Int>(0)

/// Starts sleepers, some of which wake all the time.
func startSleepers() {
  for number in 0..<2000 {
    Task.detached {
      do {
        while true {
          if number % 4 == 0 { try await Task.sleep(for: .seconds(1000)) }
          try await Task.sleep(
            for: .microseconds(100 + number),
            tolerance: number % 2 == 0 ? .milliseconds(1) : nil)
          woken.add(1, ordering: .relaxed)
        }
      } catch {}
    }
  }
}

/// Whether sleepers wake up within a minute.
func wakes(_ count: Int = 1000) -> Bool {
  let before = woken.load(ordering: .relaxed)
  for _ in 0..<60_000 {
    if woken.load(ordering: .relaxed) - before >= count { return true }
    usleep(1000)
  }
  return false
}

/// A child that has not used Dispatch before: its sleeps work.
func sleepInChild(_: UnsafeRawPointer?) -> Int32 {
  startSleepers()
  return wakes() ? 0 : 1
}

func exitInTheMiddle(_: UnsafeRawPointer?) -> Int32 {
  startSleepers()
  return wakes() ? 7 : 1
}

/// The parent's sleeps go on, and the child can exit.
func forkInTheMiddle(_: UnsafeRawPointer?) -> Int32 {
  startSleepers()
  for _ in 0..<20 {
    if !wakes(100) { return 1 }
    let child = forkProcess()
    if child == 0 { exit(5) }
    var status: Int32 = 0
    waitpid(child, &status, 0)
    if status != 5 << 8 { return 2 }
  }
  return wakes() ? 0 : 3
}

/// Sleeps that end while the process is stopped end when it goes on.
func stopAndContinue(_: UnsafeRawPointer?) -> Int32 {
  startSleepers()
  if !wakes() { return 1 }
  let process = getpid()
  let helper = forkProcess()
  if helper == 0 {
    usleep(50_000)
    kill(process, SIGSTOP)
    usleep(300_000)
    kill(process, SIGCONT)
    _exit(0)
  }
  usleep(200_000)
  return wakes() ? 0 : 2
}

func endMainThread(_: UnsafeRawPointer?) -> Int32 {
  startSleepers()
  Task.detached {
    try? await Task.sleep(for: .milliseconds(50))
    exit(wakes() ? 9 : 1)
  }
  pthread_exit(nil)
}

func run(_ name: String, _ body: @convention(c) (UnsafeRawPointer?) -> Int32) {
  let result = runChild(body, nil)
  print("\(name): status \(result.status), signal \(result.signal)")
}

@main struct Main {
  static func main() {
    // CHECK: sleep: status 0, signal 0
    run("sleep", sleepInChild)
    // CHECK-NEXT: exit: status 7, signal 0
    run("exit", exitInTheMiddle)
    // CHECK-NEXT: fork: status 0, signal 0
    run("fork", forkInTheMiddle)
    // CHECK-NEXT: stop: status 0, signal 0
    run("stop", stopAndContinue)
    // CHECK-NEXT: main thread: status 9, signal 0
    run("main thread", endMainThread)
  }
}
