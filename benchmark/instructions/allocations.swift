// Counts what an operation takes of malloc. Prints one line a row: its name, and the calls of
// malloc and free, the bytes asked for and those taken, each for one operation.

import Dispatch

struct Row: Sendable {
  let name: String
  let text: String
  let run: @Sendable (Int) async -> Void
}

actor Counter {
  var count = 0
  func add() { count += 1 }
}

@inline(never) func suspend() async -> Int {
  await Task.yield()
  return 1
}

/// A value of an async let that is not inlined.
@inline(never) func one() async -> Int { 1 }

let counter = Counter()

let rows = [
  Row(name: "Task {}", text: "a task that does nothing, and is awaited") { count in
    for _ in 0..<count { await Task {}.value }
  },
  Row(name: "Task {}, captures", text: "the same, and its closure captures a value") { count in
    for number in 0..<count { await Task { precondition(number >= 0) }.value }
  },
  Row(name: "Task {}, calls", text: "a task that calls an async function, which does not suspend") { count in
    for _ in 0..<count { _ = await Task { await one() }.value }
  },
  Row(name: "Task {}, suspends", text: "a task that yields in a function") { count in
    for _ in 0..<count { _ = await Task { await suspend() }.value }
  },
  Row(name: "Group", text: "a group without children") { count in
    for _ in 0..<count { await withTaskGroup(of: Void.self) { _ in } }
  },
  Row(name: "Group child", text: "a child of a group of 1,000") { count in
    for _ in 0..<(count / 1000) {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<1000 { group.addTask {} }
      }
    }
  },
  Row(name: "Group child, discarding", text: "a child of a discarding group of 1,000") { count in
    for _ in 0..<(count / 1000) {
      await withDiscardingTaskGroup { group in
        for _ in 0..<1000 { group.addTask {} }
      }
    }
  },
  Row(name: "async let", text: "a child by async let") { count in
    for _ in 0..<count {
      async let value = one()
      _ = await value
    }
  },
  Row(name: "Continuation, unsafe", text: "withUnsafeContinuation, resumed at once") { count in
    for _ in 0..<count { await withUnsafeContinuation { $0.resume() } }
  },
  Row(name: "Continuation, checked", text: "withCheckedContinuation, resumed at once") { count in
    for _ in 0..<count { await withCheckedContinuation { $0.resume() } }
  },
  Row(name: "Actor call", text: "a call of an actor that is free") { count in
    for _ in 0..<count { await counter.add() }
  },
  Row(name: "Cancellation handler", text: "withTaskCancellationHandler around nothing") { count in
    for _ in 0..<count { await withTaskCancellationHandler {} onCancel: {} }
  },
  Row(name: "AsyncStream element, there", text: "an element that was there before next()") { count in
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    for number in 0..<count { continuation.yield(number) }
    continuation.finish()
    for await _ in stream {}
  },
  Row(name: "AsyncStream element, awaited", text: "an element whose consumer waits for it") { count in
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    let (answers, answer) = AsyncStream.makeStream(of: Int.self)
    let consumer = Task {
      for await number in stream { answer.yield(number) }
    }
    var iterator = answers.makeAsyncIterator()
    for number in 0..<(count / 2) {
      continuation.yield(number)
      _ = await iterator.next()
    }
    continuation.finish()
    await consumer.value
  },
]

@main
struct Main {
  static func main() async {
    if CommandLine.arguments.last == "--list" {
      for row in rows { print("\(row.name)\t\(row.text)") }
      return
    }
    let count = 20_000
    for row in rows where CommandLine.arguments.count < 2 || CommandLine.arguments[1] == row.name {
      await row.run(count)
      let before = allocations()
      await row.run(count)
      let after = allocations()
      let found = [
        after.allocations - before.allocations, after.frees - before.frees, after.asked - before.asked,
        after.taken - before.taken,
      ]
      print(([row.name] + found.map { "\(Double($0) / Double(count))" }).joined(separator: "\t"))
    }
  }
}
