//===--- AsyncStreamElements.swift ----------------------------------------===//
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

// 100 elements through a stream.
//
// Buffered:   all are there before the first one is read.
// OneByOne:   each is read when it is there, and before the next one is yielded.
// Newest:     200 are yielded to a buffer of 100, which drops the oldest.
// Waiting:    another task waits for each (mostly the hand-over to that task).
// Consumers:  100 tasks wait for one element each.
// Throwing:   an AsyncThrowingStream.

import Dispatch
import TestsUtils

public var benchmarks: [BenchmarkInfo] {
  guard #available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *) else { return [] }
  return [
    entry("Buffered.Int") { await buffered { $0 } },
    entry("Buffered.Object") {
      let object = Object()
      await buffered { _ in object }
    },
    entry("Buffered.String") { await buffered { _ in "an element that is allocated" } },
    entry("Buffered.Large") { await buffered { Large(first: $0) } },
    entry("Newest.Int") { await buffered(.bufferingNewest(100), dropped: 100) { $0 } },
    entry("OneByOne.Int") { await oneByOne() },
    entry("Throwing.Buffered.Int") { await bufferedThrowing() },
    entry("Throwing.OneByOne.Int") { await oneByOneThrowing() },
    entry("Waiting.Int") { await waiting() },
    entry("Consumers.100") { await consumers() },
  ]
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func entry(
  _ name: String, _ body: @escaping @Sendable () async -> Void
) -> BenchmarkInfo {
  BenchmarkInfo(
    name: "AsyncStream." + name,
    runFunction: { n in
      let finished = DispatchSemaphore(value: 0)
      Task.detached {
        for _ in 0..<n { await body() }
        finished.signal()
      }
      finished.wait()
    },
    tags: [.concurrency])
}

private final class Object: Sendable {}

private struct Large {
  var first: Int
  var rest = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func buffered<Element>(
  _ policy: AsyncStream<Element>.Continuation.BufferingPolicy = .unbounded,
  dropped: Int = 0, _ make: (Int) -> Element
) async {
  let (stream, continuation) = AsyncStream<Element>.makeStream(bufferingPolicy: policy)
  for number in 0..<100 + dropped { continuation.yield(make(number)) }
  continuation.finish()
  var count = 0
  for await _ in stream { count += 1 }
  check(count == 100)
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func oneByOne() async {
  let (stream, continuation) = AsyncStream<Int>.makeStream()
  var iterator = stream.makeAsyncIterator()
  for number in 0..<100 {
    continuation.yield(number)
    let next = await iterator.next()
    check(next == number)
  }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func bufferedThrowing() async {
  let (stream, continuation) = AsyncThrowingStream<Int, Error>.makeStream()
  for number in 0..<100 { continuation.yield(number) }
  continuation.finish()
  var count = 0
  do {
    for try await _ in stream { count += 1 }
  } catch {}
  check(count == 100)
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func oneByOneThrowing() async {
  let (stream, continuation) = AsyncThrowingStream<Int, Error>.makeStream()
  var iterator = stream.makeAsyncIterator()
  for number in 0..<100 {
    continuation.yield(number)
    let next = try? await iterator.next()
    check(next == number)
  }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func waiting() async {
  let (stream, continuation) = AsyncStream<Int>.makeStream()
  let (answers, answer) = AsyncStream<Int>.makeStream()
  let consumer = Task.detached {
    for await number in stream { answer.yield(number) }
  }
  var iterator = answers.makeAsyncIterator()
  for number in 0..<100 {
    continuation.yield(number)
    let next = await iterator.next()
    check(next == number)
  }
  continuation.finish()
  await consumer.value
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
private func consumers() async {
  let (stream, continuation) = AsyncStream<Int>.makeStream()
  await withTaskGroup(of: Int?.self) { group in
    for _ in 0..<100 {
      group.addTask {
        var iterator = stream.makeAsyncIterator()
        return await iterator.next()
      }
    }
    for number in 0..<100 { continuation.yield(number) }
    var sum = 0
    for await number in group { sum += number! }
    check(sum == 4950)
  }
}
