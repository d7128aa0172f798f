// Rows without a network: what a program does `count` times. Each returns a number that must come out.

import AsyncAlgorithms
import Logging

struct Row: Sendable {
  let name: String
  let text: String
  let run: @Sendable (Int) async throws -> Int
}

let rows: [Row] = [
  Row(name: "spans", text: "three nested spans, each of which binds one task-local anew") { count in
    var sum = 0
    for _ in 0..<count {
      sum += await withSpan("one") {
        await withSpan("two") { await withSpan("three") { Context.current!.values.count } }
      }
    }
    return sum / 2
  },
  Row(name: "logger", text: "a line for a logger that writes nothing, with metadata from task-locals") { count in
    await Request.$id.withValue("request") {
      await withSpan("one") {
        for _ in 0..<count { logger.info("line") }
      }
    }
    return count
  },
  Row(name: "stream", text: "an element through three AsyncStreams, each with a task") { count in
    let (first, into) = AsyncStream.makeStream(of: Int.self)
    let (second, between) = AsyncStream.makeStream(of: Int.self)
    let (third, out) = AsyncStream.makeStream(of: Int.self)
    return await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for number in 0..<count {
          into.yield(number)
          // A source that is never ahead by more than a few: it would measure the memory.
          if number % 64 == 63 { await Task.yield() }
        }
        into.finish()
      }
      group.addTask {
        for await number in first { between.yield(number &+ 1) }
        between.finish()
      }
      group.addTask {
        for await number in second { out.yield(number &* 2) }
        out.finish()
      }
      var seen = 0
      for await _ in third { seen += 1 }
      return seen
    }
  },
  Row(name: "channels", text: "an element through channels of async-algorithms: merged, in chunks, debounced") { count in
    let one = AsyncChannel<Int>()
    let other = AsyncChannel<Int>()
    return await withTaskGroup(of: Void.self) { group in
      for (channel, numbers) in [(one, 0..<count / 2), (other, count / 2..<count)] {
        group.addTask {
          for number in numbers { await channel.send(number) }
          channel.finish()
        }
      }
      var seen = 0
      let chunks = merge(one, other).chunks(ofCount: 16)
      let last = AsyncStream.makeStream(of: Int.self)
      group.addTask {
        // What comes while a chunk is counted is told once.
        for await _ in last.stream.debounce(for: .milliseconds(1)) {}
      }
      for await chunk in chunks {
        seen += chunk.count
        last.continuation.yield(seen)
      }
      last.continuation.finish()
      return seen
    }
  },
]
