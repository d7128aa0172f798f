// RUN: %empty-directory(%t)
// RUN: %target-build-swift -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// A thread that blocks signals, as those of tasks do, starts a process. The mask is inherited, but a signal ends the
// process all the same when its first thread has nothing to do.

import Glibc

@main struct Main {
  @MainActor static func main() async {
    if CommandLine.arguments.count > 1 {
      try? await Task.sleep(nanoseconds: 60_000_000_000)
      exit(3)
    }
    for signal in [SIGTERM, SIGUSR1] {
      let status = await Task.detached { run(thenSend: signal) }.value
      precondition(status & 0x7f == signal, "\(signal): \(status)")
    }
    // CHECK: done
    print("done")
  }
}

/// The status of this program, which sleeps in a process of its own until the signal comes.
func run(thenSend signal: Int32) -> Int32 {
  var mask = sigset_t(), old = sigset_t()
  sigfillset(&mask)
  pthread_sigmask(SIG_BLOCK, &mask, &old)
  defer { pthread_sigmask(SIG_SETMASK, &old, nil) }
  var child: pid_t = 0
  var words = [strdup(CommandLine.arguments[0]), strdup("sleep"), nil]
  defer { for word in words { free(word) } }
  precondition(posix_spawn(&child, CommandLine.arguments[0], nil, nil, &words, environ) == 0)
  usleep(300_000)
  kill(child, signal)
  var status: Int32 = 0
  waitpid(child, &status, 0)
  return status
}
