// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -parse-as-library %import-libdispatch -Xlinker --export-dynamic %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu
// The runtimes without it have libdispatch without main-queue-first-item, which wakes the thread for each job. Before
// main-actor-main-thread, threads of Dispatch serve the queue, and nobody calls eventfd_write().
// XFAIL: without_executor-dispatch

// While the main actor is in a job, others are added: the first of them wakes its thread, and the
// others cost no system call. Nor is a job lost that is added when the queue is just empty.

import Dispatch
import Glibc
import Synchronization

let wakes = Atomic(0)

/// libdispatch calls it to wake the thread of the main queue.
@_cdecl("eventfd_write") public func wake(_ file: Int32, _ value: UInt64) -> Int32 {
  wakes.add(1, ordering: .relaxed)
  var value = value
  return write(file, &value, 8) == 8 ? 0 : -1
}

/// Runs `body` in a thread that is not the main actor's; the main actor waits in its job meanwhile.
@MainActor func inThread(_ body: @escaping @Sendable () -> Void) {
  let ended = DispatchSemaphore(value: 0)
  DispatchQueue(label: "thread").async {
    body()
    ended.signal()
  }
  ended.wait()
}

@main struct Main {
  @MainActor static func main() async {
    alarm(120)
    // From now on the first thread waits for the queue.
    await Task.detached {}.value

    let count = 1000, ran = Atomic(0)
    for add: @Sendable () -> Void in [
      { DispatchQueue.main.async { ran.add(1, ordering: .relaxed) } },
      { DispatchQueue.main.async(qos: .userInteractive) { ran.add(1, ordering: .relaxed) } },
      { Task { @MainActor in ran.add(1, ordering: .relaxed) } },
    ] {
      wakes.store(0, ordering: .relaxed)
      ran.store(0, ordering: .relaxed)
      inThread { for _ in 0..<count { add() } }
      let number = wakes.load(ordering: .relaxed)
      precondition(number <= 10, "\(number) wake-ups for \(count) jobs")
      while ran.load(ordering: .relaxed) != count { await Task.yield() }
    }
    precondition(wakes.load(ordering: .relaxed) > 0, "eventfd_write() is another function")

    // One, two or three at a time, each time when the others have just run.
    await withCheckedContinuation { (end: CheckedContinuation<Void, Never>) in
      DispatchQueue(label: "thread").async {
        let ran = DispatchSemaphore(value: 0)
        for number in 0..<20_000 {
          for _ in 0...number % 3 { DispatchQueue.main.async { ran.signal() } }
          for _ in 0...number % 3 {
            precondition(ran.wait(timeout: .now() + 60) == .success, "a block is lost")
          }
        }
        end.resume()
      }
    }
  }
}
