// RUN: %empty-directory(%t)
// RUN: %target-build-swift %import-libdispatch -parse-as-library -I %S/../../../liveness/include %S/../../../liveness/samples/LivenessScope.swift %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=400 %target-run %t/a.out > %t/log 2>&1
// RUN: %FileCheck %s < %t/log

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// It depends on times, and other tests may take the processors.
// ALLOW_RETRIES: 2

// A runtime without the monitor reports nothing.
// UNSUPPORTED: without_executor-liveness-scopes

// A process that a debugger or a terminal stops for a while. The monitor's clock is behind from then on.

import CLiveness
import Glibc
import Synchronization

func seconds() -> Double {
  var now = timespec()
  clock_gettime(CLOCK_MONOTONIC, &now)
  return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
}

func sleep(ms: UInt32) { usleep(ms * 1000) }

let isOver = Atomic(false)

/// Has looks of its own, and wakes the monitor as soon as a time is over.
func startAsking() -> pthread_t {
  var thread = pthread_t()
  pthread_create(&thread, nil, { _ in
    while !isOver.load(ordering: .relaxed) { swift_liveness_check() }
    return nil
  }, nil)
  return thread
}

func stopForAWhile() -> pid_t {
  let script = "sleep 0.5; kill -STOP \(getpid()); sleep 1.5; kill -CONT \(getpid())"
  var child = pid_t()
  var arguments: [UnsafeMutablePointer<CChar>?] =
    ["sh", "-c", script].map { (text: String) in strdup(text) } + [nil]
  precondition(posix_spawn(&child, "/bin/sh", nil, nil, &arguments, environ) == 0)
  for argument in arguments { free(argument) }
  return child
}

@main struct Main {
  static func main() {
    setvbuf(stdout, nil, _IOLBF, 0)

    // One of its steps takes more than a second on the clock.
    let asking = startAsking()
    let child = stopForAWhile()
    let end = seconds() + 10
    var longest = 0.0
    withLivenessScope("is stopped") { scope in
      while longest < 1, seconds() < end {
        scope.checkpoint(1)
        for _ in 0..<10 {
          let begin = seconds()
          sleep(ms: 20)
          longest = max(longest, seconds() - begin)
        }
      }
    }
    var status: Int32 = 0
    waitpid(child, &status, 0)
    isOver.store(true, ordering: .relaxed)
    pthread_join(asking, nil)
    // CHECK-NOT: liveness
    // CHECK: stopped for a second: true
    print("stopped for a second:", longest > 1)

    // What the thread has done before a scope is not the scope's.
    // CHECK-NOT: "sleeps"
    // CHECK: scope "spins", running, stuck for
    // CHECK: done
    withLivenessScope("sleeps") { _ in sleep(ms: 300) }
    sleep(ms: 500)
    withLivenessScope("spins") { _ in
      let end = seconds() + 0.7
      while seconds() < end {}
    }
    sleep(ms: 200)
    print("done")
  }
}
