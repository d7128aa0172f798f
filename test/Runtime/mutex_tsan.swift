// RUN: %empty-directory(%t)
// RUN: %target-build-swift -parse-as-library -sanitize=thread %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out > %t/ordered 2>&1
// RUN: %FileCheck --check-prefix=ORDERED %s < %t/ordered
// RUN: env %env-SWIFT_MUTEX_PI=1 %target-run %t/a.out > %t/pi 2>&1
// RUN: %FileCheck --check-prefix=ORDERED %s < %t/pi
// RUN: not %target-run %t/a.out race > %t/race 2>&1
// RUN: %FileCheck --check-prefix=RACE %s < %t/race

// REQUIRES: executable_test
// REQUIRES: synchronization
// REQUIRES: tsan_runtime
// UNSUPPORTED: use_os_stdlib
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: asan
// REQUIRES: OS=linux-gnu

// What a debug build of the runtime does in each access orders the accesses now and
// then, so the race is not always seen.
// UNSUPPORTED: runtime_debug
// UNSUPPORTED: runtime_before-debug
// The slow paths are in a library that is not instrumented, and tell nothing.
// XFAIL: without_mutex-tsan

// ThreadSanitizer sees no race in what a contended Mutex protects, and one beside it.

import Glibc
import Synchronization

final class Shared: @unchecked Sendable {
  let mutex = Mutex(())
  var protected = [0]
  var beside = 0
  let isRace: Bool
  init(isRace: Bool) { self.isRace = isRace }
}

@main struct Main {
  static func main() {
    let shared = Shared(isRace: CommandLine.arguments.contains("race"))
    let threads = (0..<4).map { number in
      var thread = pthread_t()
      let status = pthread_create(&thread, nil, {
        let shared = Unmanaged<Shared>.fromOpaque($0!).takeUnretainedValue()
        // Before the Mutex, which may order what stands beside it by chance.
        for _ in 0..<(shared.isRace ? 100 : 0) {
          shared.beside += 1
          usleep(200)
        }
        for round in 0..<500 {
          shared.mutex.withLock { _ in
            shared.protected[0] += 1
            // Others wait and are woken; now and then one starves.
            if round % 10 == 0 { usleep(500) }
          }
          if round % 100 == 0, shared.mutex.withLockIfAvailable({ _ in shared.protected[0] += 0 }) == nil {
            sched_yield()
          }
        }
        return nil
      }, Unmanaged.passUnretained(shared).toOpaque())
      precondition(status == 0)
      return thread
    }
    for thread in threads { pthread_join(thread, nil) }
    // ORDERED-NOT: WARNING: ThreadSanitizer
    // ORDERED: counted 2000
    // RACE-NOT: protected
    // RACE: WARNING: ThreadSanitizer: {{.*}}race
    // RACE: counted 2000
    print("counted", shared.protected[0])
  }
}
