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

/// The main actor works for 2 ms on each of 50 elements. What it adds meanwhile runs before it takes the next one.
@MainActor func takeSlowly() async {
  let (stream, own) = AsyncStream<Int>.makeStream()
  for element in 0..<50 { own.yield(element) }
  own.finish()
  var taken = 0
  for await _ in stream {
    precondition(turns == taken, "\(turns) turns before element \(taken)")
    taken += 1
    Task { @MainActor in turns += 1 }
    let end = ContinuousClock.now + .milliseconds(2)
    while ContinuousClock.now < end {}
  }
  precondition(taken == 50, "\(taken) elements")
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
