// RUN: %target-run-simple-swift( -parse-as-library)
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// An actor that takes elements, of which some are always pending, lets its other jobs run: also if
// each element has an iterator of its own, and if each takes long.

/// Ends when another job of the actor stops it.
actor Consumer {
  private var isStopped = false
  private(set) var hasTaken = false
  func stop() { isStopped = true }

  func takeByIterators(_ stream: AsyncStream<Int>, _ own: AsyncStream<Int>.Continuation) async {
    while !isStopped {
      var iterator = stream.makeAsyncIterator()
      if let element = await iterator.next(isolation: self) { own.yield(element) }
      hasTaken = true
    }
  }

  func takeByLoops(_ stream: AsyncThrowingStream<Int, Error>, _ own: AsyncThrowingStream<Int, Error>.Continuation)
    async throws
  {
    while !isStopped {
      for try await element in stream {
        own.yield(element)
        break
      }
      hasTaken = true
    }
  }
}

@MainActor var turns = 0

/// The main actor works for 2 ms on each of 50 elements, and another job of it counts its turns.
@MainActor func takeSlowly() async {
  let (stream, own) = AsyncStream<Int>.makeStream()
  for element in 0..<50 { own.yield(element) }
  own.finish()
  let other = Task.detached {
    while !Task.isCancelled {
      await MainActor.run { turns += 1 }
      try? await Task.sleep(for: .microseconds(100))
    }
  }
  while turns == 0 { await Task.yield() }
  turns = 0
  for await _ in stream {
    let end = ContinuousClock.now + .milliseconds(2)
    while ContinuousClock.now < end {}
  }
  precondition(turns >= 10, "\(turns) turns")
  other.cancel()
}

@main struct Main {
  static func main() async throws {
    let (stream, own) = AsyncStream<Int>.makeStream()
    own.yield(0)
    own.yield(1)
    let first = Consumer()
    async let iterators: Void = first.takeByIterators(stream, own)
    while await !first.hasTaken { try await Task.sleep(for: .milliseconds(1)) }
    await first.stop()
    await iterators

    let (throwing, ownThrowing) = AsyncThrowingStream<Int, Error>.makeStream()
    ownThrowing.yield(0)
    let second = Consumer()
    async let loops: Void = second.takeByLoops(throwing, ownThrowing)
    while await !second.hasTaken { try await Task.sleep(for: .milliseconds(1)) }
    await second.stop()
    try await loops

    await takeSlowly()
  }
}
