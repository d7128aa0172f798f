// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out

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
// Without it, a sleep of the child waits for ever for a thread of Dispatch that only the parent has.
// UNSUPPORTED: without_executor-timers

// What sleeps when a process forks wakes in the parent, once, and in no child, whether the pool keeps the time or
// Dispatch. The child sleeps itself meanwhile.

import Dispatch
import Glibc

let parent = getpid()
let count = 200
/// How many sleepers of the parent have woken in this process, if it is a child.
let strangers = Counter()

@Sendable func sleepInChild() async -> Never {
  watch("a child", 30)
  try? await Task.sleep(for: .seconds(2))
  _exit(strangers.count == 0 ? 5 : 6)
}

func check(_ what: String, _ fork: () -> Void) {
  let woken = sharedNumbers(Int32(count))!, ended = Counter()
  for number in 0..<count {
    nonisolated(unsafe) let place = woken + number
    Task.detached {
      try? await Task.sleep(for: .milliseconds(number % 2 == 0 ? 400 : 1300))
      if getpid() != parent { strangers.add() }
      addToShared(place, 1)
      ended.add()
    }
  }
  usleep(100_000)
  fork()
  wait(for: "the sleepers, \(what)") { ended.count == count }
  for number in 0..<count where woken[number] != 1 {
    fail("\(what): sleeper \(number) has woken \(woken[number]) times")
  }
}

@main struct Main {
  static func main() {
    runBlocking { try? await Task.sleep(for: .milliseconds(3)) }
    Row.run([
      Row(name: "thread") {
        check("a thread forks") {
          let child = forkProcess()
          if child == 0 { runBlocking { await sleepInChild() } }
          let status = waitForChild(child)
          expect(status == 5, "a child of a thread: status \(status)")
        }
      },
      Row(name: "job") {
        check("a job forks") {
          runBlocking {
            let child = forkProcess()
            if child == 0 { await sleepInChild() }
            let status = waitForChild(child)
            expect(status == 5, "a child of a job: status \(status)")
          }
        }
      },
    ])
  }
}
