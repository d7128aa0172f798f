//===--- Requests.swift ---------------------------------------------------===//
//
// This source file is part of the Swift.org open source project
//
// Copyright (c) 2026 Apple Inc. and the Swift project authors
// Licensed under Apache License v2.0 with Runtime Library Exception
//
// See https://swift.org/LICENSE.txt for license information
// See https://swift.org/CONTRIBUTORS.txt for the list of Swift project authors
//
//===----------------------------------------------------------------------===//

// A server without a network: 256 requests, each a child task on the global executor,
// and 64 of them at once.
//
// Bare:    a request does nothing else (control).
// Log:     it binds an ID, and makes a task for its log.
// Session: it drops a session, which has an isolated deinit.
//
// TaskLocalCopy.Request has the parts together, on one thread.

import Dispatch
import TestsUtils

public var benchmarks: [BenchmarkInfo] {
  guard #available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, *) else {
    return []
  }
  return [
    entry("Bare") { _ in },
    entry("Log") { number in
      Server.$id.withValue(number) {
        Server.open.enter()
        Task {
          check(Server.id == number)
          Server.open.leave()
        }
      }
    },
    entry("Session") { number in
      Server.open.enter()
      _ = Session(number)
    },
  ]
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
@globalActor
private actor Server {
  static let shared = Server()
  @TaskLocal static var id = -1
  /// What requests have left behind, and has not ended yet.
  static let open = DispatchGroup()

  fileprivate var sum = 0
}

@available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, *)
private final class Session: Sendable {
  let number: Int
  init(_ number: Int) { self.number = number }

  @Server deinit {
    Server.shared.assumeIsolated { $0.sum += number }
    Server.open.leave()
  }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func serve(
  _ count: Int, _ handle: @escaping @Sendable (Int) -> Void
) async {
  let sum = await withTaskGroup(of: Int.self) { group in
    var sum = 0
    for number in 0..<count {
      if number >= 64 { sum += await group.next()! }
      group.addTask {
        handle(number)
        return number
      }
    }
    for await number in group { sum += number }
    return sum
  }
  check(sum == count * (count - 1) / 2)
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func entry(
  _ name: String, _ handle: @escaping @Sendable (Int) -> Void
) -> BenchmarkInfo {
  BenchmarkInfo(
    name: "Request." + name,
    runFunction: { n in
      let finished = DispatchSemaphore(value: 0)
      Task.detached {
        for _ in 0..<n { await serve(256, handle) }
        finished.signal()
      }
      finished.wait()
      Server.open.wait()
    },
    tags: [.concurrency])
}
