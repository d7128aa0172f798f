// Task-locals whose values are counted, and functions that bind many of them.

import Synchronization

/// How many values there are.
let alive = Atomic<Int>(0)

final class Value: Sendable {
  let number: Int
  init(_ number: Int) {
    self.number = number
    alive.add(1, ordering: .relaxed)
  }
  deinit { alive.subtract(1, ordering: .relaxed) }
}

func makeKeys(_ count: Int) -> [TaskLocal<Value?>] {
  (0..<count).map { _ in TaskLocal(wrappedValue: nil) }
}

/// Keys, and the numbers of the new values that they are to be bound to.
typealias Bindings = ArraySlice<(key: TaskLocal<Value?>, number: Int)>

func bind(_ bindings: Bindings, _ body: () -> Void) {
  guard let (key, number) = bindings.first else { return body() }
  key.withValue(Value(number)) { bind(bindings.dropFirst(), body) }
}

func bind(_ bindings: Bindings, _ body: () async -> Void) async {
  guard let (key, number) = bindings.first else { return await body() }
  await key.withValue(Value(number)) { await bind(bindings.dropFirst(), body) }
}
