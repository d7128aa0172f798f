// RUN: %target-run-simple-swift( -parse-as-library) | %FileCheck %s
// REQUIRES: executable_test
// UNSUPPORTED: use_os_stdlib
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// REQUIRES: OS=linux-gnu

// A thread that waits for a global's initializer finds its own errno behind it, also if signals interrupt the wait.

import Glibc

func initializeSlowly() -> Int {
  usleep(300_000)
  return 42
}

enum Slow { static let value = initializeSlowly() }

nonisolated(unsafe) var found: Int32 = 0

func start(_ body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?) -> pthread_t {
  var thread = pthread_t()
  let status = pthread_create(&thread, nil, body, nil)
  precondition(status == 0)
  return thread
}

@main struct Main {
  static func main() {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in }
    precondition(sigaction(SIGUSR1, &action, nil) == 0)

    let first = start { _ in
      precondition(Slow.value == 42)
      return nil
    }
    usleep(50_000)
    let second = start { _ in
      errno = 77
      precondition(Slow.value == 42)
      found = errno
      return nil
    }
    for _ in 0..<3 {
      usleep(40_000)
      pthread_kill(second, SIGUSR1)
    }
    pthread_join(second, nil)
    pthread_join(first, nil)
    // CHECK: errno: 77
    print("errno:", found)
  }
}
