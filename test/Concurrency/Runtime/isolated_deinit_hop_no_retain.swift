// RUN: %target-run-simple-swift( -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// The test slows down swift_release through the runtime's hook for instruments.
// REQUIRES: OS=linux-gnu

// The unpatched runtime retains the actor while it enqueues the actor's deinit,
// and reports a fatal error when the deinit is faster than the release.
// XFAIL: without_deinit-enqueue-no-retain

// The last reference to a default actor goes away on one thread while another
// thread runs on the actor's executor without owning the actor, at a lower
// priority. The deinit is enqueued on the actor that it destroys.

import Dispatch
import Glibc
import Synchronization

let occupied = Atomic<Bool>(false)
let leave = Atomic<Bool>(false)
let destroyed = Atomic<Int>(0)
let hopped = Atomic<Int>(0)

actor Target {
  isolated deinit {
    if pthread_self() != Hook.dropper { hopped.add(1, ordering: .relaxed) }
    destroyed.add(1, ordering: .releasing)
  }
}

actor Borrower {
  nonisolated let unownedExecutor: UnownedSerialExecutor

  init(_ target: Target) { unownedExecutor = target.unownedExecutor }

  func occupy() {
    occupied.store(true, ordering: .releasing)
    while !leave.load(ordering: .acquiring) {}
  }
}

/// Waits at most a second for deinit number `count`.
func waitForDeinit(_ count: Int) {
  for _ in 0..<10_000 where destroyed.load(ordering: .acquiring) < count {
    usleep(100)
  }
}

/// A release of the actor inside the release that destroys it gives the other
/// thread all the time it needs to run the deinit.
enum Hook {
  typealias Release = @convention(c) (UnsafeMutableRawPointer?) -> Void
  nonisolated(unsafe) static var original: Release!
  nonisolated(unsafe) static var dropper = pthread_t()
  nonisolated(unsafe) static var target: UnsafeMutableRawPointer?
  nonisolated(unsafe) static var depth = 0
  nonisolated(unsafe) static var nested = 0

  static func install() {
    let release = dlsym(nil, "_swift_release")!
      .assumingMemoryBound(to: Release.self)
    dropper = pthread_self()
    original = release.pointee
    release.pointee = { object in
      guard pthread_self() == Hook.dropper, let object, object == Hook.target
      else { return Hook.original(object) }
      Hook.depth += 1
      if Hook.depth > 1 {
        Hook.nested += 1
        leave.store(true, ordering: .releasing)
        waitForDeinit(destroyed.load(ordering: .acquiring) + 1)
      }
      Hook.original(object)
      Hook.depth -= 1
    }
    dlsym(nil, "_swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly")!
      .assumingMemoryBound(to: Bool.self).pointee = true
  }
}

@main
struct Main {
  static func main() {
    Hook.install()
    for count in 1...20 {
      occupied.store(false, ordering: .relaxed)
      leave.store(false, ordering: .relaxed)
      let target = Unmanaged.passRetained(Target())
      let borrower = target._withUnsafeGuaranteedRef { Borrower($0) }
      Task.detached(priority: .background) { await borrower.occupy() }
      while !occupied.load(ordering: .acquiring) {}

      Hook.target = target.toOpaque()
      target.release()
      Hook.target = nil
      leave.store(true, ordering: .releasing)
      waitForDeinit(count)
    }
    // CHECK: destroyed 20, hopped 20, released while being destroyed 0
    print("destroyed \(destroyed.load(ordering: .relaxed)), hopped \(hopped.load(ordering: .relaxed)), released while being destroyed \(Hook.nested)")
  }
}
