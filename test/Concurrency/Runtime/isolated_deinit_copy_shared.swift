// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/deinit-modes.c -o %t/deinit-modes.o
// RUN: %target-build-swift -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/deinit-modes.h %s %S/Inputs/DeinitModes.swift %t/deinit-modes.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// The executable preempts a symbol of the runtime library.
// REQUIRES: OS=linux-gnu

// A runtime without that patch clears task-locals whatever the flags say.
// XFAIL: without_isolated-deinit-copy-task-locals

// One thread enqueues many deinits on an actor, which can share a job of the
// runtime, while its bindings and the mode change. Each deinit sees what was
// bound at its release, and a value dies after the last deinit that sees it.

import Dispatch

final class Value: Sendable {
  let number: Int
  init(_ number: Int) { self.number = number }
  deinit { dead.append(number) }
}

enum TL {
  @TaskLocal static var value: Value? = nil
  @TaskLocal static var other = 0
}

@globalActor actor Target { static let shared = Target() }

// Only used by the actor, and by the main thread while the actor is blocked.
nonisolated(unsafe) var log: [Int] = []
nonisolated(unsafe) var dead: [Int] = []

@Target final class Object {
  nonisolated init() {}
  isolated deinit {
    // The value must not have died before.
    let number = TL.value?.number ?? -1
    log.append(dead.contains(number) ? -2 : number)
  }
}

func release(_ mode: DeinitMode, _ count: Int) {
  mode.use()
  for _ in 0..<count { _ = Object() }
  DeinitMode.reset.use()
}

func blocked(_ body: () -> Void) {
  let entered = DispatchSemaphore(value: 0), go = DispatchSemaphore(value: 0)
  Task.detached { @Target in
    entered.signal()
    go.wait()
  }
  entered.wait()
  body()
  go.signal()
  let done = DispatchSemaphore(value: 0)
  Task.detached(priority: .background) { @Target in done.signal() }
  done.wait()
}

func runs() -> String {
  var result = ""
  var i = 0
  while i < log.count {
    var end = i
    while end < log.count && log[end] == log[i] { end += 1 }
    result += "\(end - i)x\(log[i]) "
    i = end
  }
  defer { (log, dead) = ([], []) }
  return result + "dead \(dead)"
}

@main struct Main {
  static func main() {
    blocked {
      release(.copy, 300)
      TL.$value.withValue(Value(1)) {
        release(.copy, 300)
        release(.reset, 3)
        release(.copy, 3)
        // Another list of bindings, in which the value is the same.
        TL.$other.withValue(1) { release(.copy, 5) }
        TL.$value.withValue(Value(2)) {
          release(.copy, 400)
          TL.$value.withValue(nil) { release(.copy, 2) }
        }
        release(.copy, 1)
      }
      for number in 3..<6 {
        TL.$value.withValue(Value(number)) { release(.copy, 2) }
      }
      release(.copy, 1)
      release(.reset, 1)
    }
    // CHECK: 300x-1 300x1 3x-1 8x1 400x2 2x-1 1x1 2x3 2x4 2x5 2x-1 dead [2, 1, 3, 4, 5]
    print(runs())

    // All of them while the actor runs. Nothing is known about the last death.
    TL.$value.withValue(Value(6)) { release(.copy, 3000) }
    blocked {}
    // CHECK: 3000x6 dead [6]
    print(runs())
  }
}
