// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ThreadName.swift %S/Inputs/CancellationSupport.swift %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=2 %env-SWIFT_CHAOS_SLEEP=0 %target-run %t/a.out 2>/dev/null

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu

// Such jobs hang with Dispatch's queues, and without this patch.
// UNSUPPORTED: without_executor-rescue
// UNSUPPORTED: without_executor-rescue-begun

// Jobs have all threads of the pool, and block until a task A of each has run. 18 of these have all helpers of the first
// tier, and block until a task B of each has run. If B runs on a thread that is no helper, which has become free, and
// blocks until its task C has run, a helper of the second tier has to run C: all others may be blocked.

import Dispatch
import Glibc
import Synchronization

/// The place of this thread in the pool, which its name has, or -1.
func place() -> Int {
  let name = threadName().prefix { $0 != "\n" }
  return name.hasPrefix("swift-pool-") ? Int(name.dropFirst(11)) ?? -1 : -1
}

/// A job that waits for A, which waits for B, which waits for C. A and B suspend until their gates open.
final class Chain: Sendable {
  let a = Gate(), b = Gate(), hasRun = Flag(), ended = DispatchSemaphore(value: 0)
  let placeOfJob = Atomic(-1), placeOfA = Atomic(-1), placeOfB = Atomic(-1)

  func run() {
    placeOfJob.store(place(), ordering: .releasing)
    runBlocking { [self] in
      await a.wait()
      placeOfA.store(place(), ordering: .releasing)
      runBlocking { [self] in
        await b.wait()
        placeOfB.store(place(), ordering: .releasing)
        runBlocking { [self] in hasRun.set() }
      }
    }
    ended.signal()
  }
}

/// Workers and stand-ins; the helpers' places come after these.
let threads = width + max(256, 8 * width), firstTier = 18

@main struct Main {
  static func main() {
    let chains = (0..<threads - 1).map { _ in Chain() }, release = DispatchSemaphore(value: 0), held = Flag()
    for chain in chains { Task.detached { chain.run() } }
    wait(for: "the jobs") { chains.allSatisfy(\.a.isWaiting) }
    usleep(50_000)
    Task.detached {
      held.set()
      waitFor(release)
    }
    wait(for: "the last thread") { held.isSet }
    // The watcher sees that they are blocked.
    usleep(100_000)

    // Not the first jobs: those have stand-ins that are helped at once.
    let its = Array(chains[60..<60 + firstTier])
    for chain in its {
      chain.a.open()
      wait(for: "A") { chain.b.isWaiting }
      let place = chain.placeOfA.load(ordering: .acquiring)
      expect(place >= threads && place < threads + firstTier, "A is at place \(place)")
    }
    usleep(50_000)
    release.signal()
    usleep(500_000)
    its[0].b.open()
    wait(for: "C") { its[0].hasRun.isSet }
    let place = its[0].placeOfB.load(ordering: .acquiring)
    print("B was at place \(place), C has run")
    expect(place >= 0 && place < threads, "a helper ran B: the case has not come")

    for chain in chains {
      if chain !== its[0] {
        chain.a.open()
        wait(for: "B") { chain.b.isWaiting }
        chain.b.open()
      }
      chain.ended.wait()
    }
    exit(isAllRight ? 0 : 1)
  }
}
