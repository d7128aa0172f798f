// RUN: %target-run-simple-swift( -parse-as-library) | %FileCheck %s
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// The frames of instrumented code and of code that is not optimized are larger.
// UNSUPPORTED: asan, tsan
// UNSUPPORTED: runtime_debug, runtime_ubsan, runtime_chaos
// UNSUPPORTED: runtime_before-debug, runtime_before-ubsan, runtime_before-chaos

// What onTermination may do: end the stream with an error, which the consumer then gets, and keep
// other streams alive that end with it. A chain of these must not take more stack than it did.

struct Failure: Error {}

/// The task that is returned waits in next(), or is about to.
func consumer(_ stream: AsyncThrowingStream<Int, Error>) -> Task<String, Never> {
  Task {
    do {
      for try await _ in stream {}
      return "end"
    } catch is Failure {
      return "failure"
    } catch {
      return "another error"
    }
  }
}

/// A handler that fails the stream while that is being ended otherwise.
func endsWithFailure(_ end: (Task<String, Never>) -> Void) async -> String {
  let (stream, continuation) = AsyncThrowingStream<Int, Error>.makeStream()
  continuation.onTermination = { _ in continuation.finish(throwing: Failure()) }
  let task = consumer(stream)
  for _ in 0..<20 { await Task.yield() }
  end(task)
  return await task.value
}

/// Streams, each of which is kept by what the one before has as onTermination.
func chain(_ length: Int) -> AsyncStream<Int> {
  var (last, _) = AsyncStream<Int>.makeStream()
  for _ in 1..<length {
    let (stream, continuation) = AsyncStream<Int>.makeStream()
    continuation.onTermination = { [last] _ in _ = last }
    last = stream
  }
  return last
}

func throwingChain(_ length: Int) -> AsyncThrowingStream<Int, Error> {
  var (last, _) = AsyncThrowingStream<Int, Error>.makeStream()
  for _ in 1..<length {
    let (stream, continuation) = AsyncThrowingStream<Int, Error>.makeStream()
    continuation.onTermination = { [last] _ in _ = last }
    last = stream
  }
  return last
}

@inline(never) func drop<T>(_ value: consuming T) {}

@main struct Main {
  static func main() async {
    // CHECK: cancelled: failure
    print("cancelled:", await endsWithFailure { $0.cancel() })

    // A stream that has ended has no handler any more, so nobody fails it again.
    let (stream, continuation) = AsyncThrowingStream<Int, Error>.makeStream()
    continuation.onTermination = { _ in continuation.finish(throwing: Failure()) }
    continuation.finish()
    // CHECK: finished: end
    print("finished:", await consumer(stream).value)

    await MainActor.run {
      drop(chain(20_000))
      drop(throwingChain(20_000))
    }
    // CHECK: chains
    print("chains")
  }
}
