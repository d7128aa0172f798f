// RUN: %empty-directory(%t)
// RUN: %target-build-swift %import-libdispatch -parse-as-library -module-name a %s -o %t/a.out
// RUN: %target-codesign %t/a.out

// Before the first job, the signal does not end the process. What it asked for comes with the job.
// RUN: env %env-SWIFT_LIVENESS_TIMEOUT=5000 %env-SWIFT_LIVENESS_SIGNAL=USR2 %target-run %t/a.out early > %t/log 2>&1
// RUN: %FileCheck --check-prefix=EARLY %s < %t/log
// EARLY: no job yet
// EARLY: live task
// EARLY: done

// The child of a fork counts its own reports. (On Dispatch's queues it runs no job.)
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_LIVENESS_TIMEOUT=100 %env-SWIFT_LIVENESS_RATE=1 %target-run %t/a.out fork > %t/log 2>&1
// RUN: %FileCheck --check-prefix=FORK %s < %t/log
// FORK: liveness: {{.*}} stuck for
// FORK: child
// FORK-NOT: {{[0-9][0-9][0-9]}} more reports
// FORK: liveness: {{.*}} stuck for
// FORK-NOT: {{[0-9][0-9][0-9]}} more reports
// FORK: done

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// A sanitizer does not support a fork in a process with several threads.
// UNSUPPORTED: asan, tsan
// XFAIL: without_executor-liveness-marks

// The monitor before the first job, and in the child of a fork.

import Dispatch
import Glibc

func block(_ milliseconds: UInt32, _ count: Int = 1) {
  let group = DispatchGroup()
  for _ in 0..<count {
    group.enter()
    Task.detached {
      usleep(milliseconds * 1000)
      group.leave()
    }
  }
  group.wait()
}

@main struct Main {
  static func main() {
    setvbuf(stdout, nil, _IOLBF, 0)
    if CommandLine.arguments[1] == "early" {
      raise(SIGUSR2)
      print("no job yet")
      block(1000)
    } else {
      // More than one in the second: most of these reports are left out.
      block(1500, 4)
      let fork = unsafeBitCast(dlsym(nil, "fork")!, to: (@convention(c) () -> pid_t).self)
      let child = fork()
      if child == 0 {
        print("child")
        sleep(1)
        block(1000)
        exit(0)
      }
      var status: Int32 = 0
      precondition(waitpid(child, &status, 0) == child && status == 0, "\(status)")
    }
    print("done")
  }
}
