// RUN: %target-run-simple-swift( -parse-as-library %import-libdispatch) | %FileCheck %s
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// REQUIRES: libdispatch
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// What a stream does with its elements, whatever their type: order, the policies of the
// buffer and what yield() answers, many consumers, cancellation and termination, that each
// element is destroyed once, and that a consumer keeps its actor but does not block it.

import Dispatch

enum Failure: Error, Equatable { case one, two }

final class Counted: Sendable {
  static let alive = Lock(0)
  let number: Int
  init(_ number: Int) { self.number = number; Self.alive.change { $0 += 1 } }
  deinit { Self.alive.change { $0 -= 1 } }
}

final class Lock<Value>: @unchecked Sendable {
  private let semaphore = DispatchSemaphore(value: 1)
  private var inside: Value
  init(_ value: Value) { inside = value }
  @discardableResult func change<R>(_ body: (inout Value) -> R) -> R {
    semaphore.wait()
    defer { semaphore.signal() }
    return body(&inside)
  }
  var value: Value { change { $0 } }
}

struct Large: Equatable {
  var a: Int, b = (1, 2, 3, 4), c: String, d = (5, 6, 7, 8), object: Counted?
  static func == (one: Large, other: Large) -> Bool {
    one.a == other.a && one.b == other.b && one.c == other.c && one.d == other.d
  }
}
struct Empty {}
struct Unique: ~Copyable { let number: Int }
final class Box<T: ~Copyable> {
  let value: T
  init(_ value: consuming T) { self.value = value }
}
struct Weak { weak var object: Box<Unique>? }
struct InlineBytes {
  typealias Ten = (UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8)
  var first: UInt8
  var rest: (Ten, Ten, Ten, Ten, Ten, Ten, Ten, Ten, Ten, Ten)? = nil
  var others: (Ten, Ten, Ten, Ten, Ten, Ten, Ten, Ten, Ten, Ten)? = nil
  var more: (Ten, Ten, Ten, Ten, Ten, Ten, Ten, Ten, Ten, Ten)? = nil
}
enum Choice: Equatable { case none, number(Int), text(String), both(Int, String) }

/// Yields and reads so that what is pending grows, shrinks and wraps around.
func checkOrder<T>(_ name: String, _ make: (Int) -> T, _ same: (T, T) -> Bool) async throws {
  let (stream, continuation) = AsyncStream<T>.makeStream()
  let (throwing, other) = AsyncThrowingStream<T, Error>.makeStream()
  var iterator = stream.makeAsyncIterator(), throwingIterator = throwing.makeAsyncIterator()
  var written = 0, read = 0
  for round in 1...60 {
    for _ in 0..<(round % 7) * 5 {
      continuation.yield(make(written))
      other.yield(make(written))
      written += 1
    }
    for _ in 0..<min((round % 5) * 6, written - read) {
      let next = await iterator.next(), nextThrowing = try await throwingIterator.next()
      precondition(same(next!, make(read)) && same(nextThrowing!, make(read)))
      read += 1
    }
  }
  continuation.finish()
  other.finish()
  while let next = await iterator.next() {
    let nextThrowing = try await throwingIterator.next()
    precondition(same(next, make(read)) && same(nextThrowing!, make(read)))
    read += 1
  }
  precondition(read == written && written > 500)
  let end = try await throwingIterator.next()
  precondition(end == nil)
  checkResults(name, make, same)
  print("order:", name)
}

func checkPolicies() async throws {
  func text(_ result: AsyncStream<Int>.Continuation.YieldResult) -> String {
    switch result {
    case .enqueued(let remaining): remaining == .max ? "+" : "+\(remaining)"
    case .dropped(let element): "-\(element)"
    case .terminated: "end"
    @unknown default: "?"
    }
  }
  func text(_ result: AsyncThrowingStream<Int, Error>.Continuation.YieldResult) -> String {
    switch result {
    case .enqueued(let remaining): remaining == .max ? "+" : "+\(remaining)"
    case .dropped(let element): "-\(element)"
    case .terminated: "end"
    @unknown default: "?"
    }
  }
  for size in [0, 1, 3] {
    let policies: [(AsyncStream<Int>.Continuation.BufferingPolicy,
                    AsyncThrowingStream<Int, Error>.Continuation.BufferingPolicy)] = [
      (.bufferingOldest(size), .bufferingOldest(size)),
      (.bufferingNewest(size), .bufferingNewest(size)), (.unbounded, .unbounded)]
    for (policy, throwingPolicy) in policies {
      let (stream, continuation) = AsyncStream<Int>.makeStream(bufferingPolicy: policy)
      let (throwing, other) = AsyncThrowingStream<Int, Error>.makeStream(
        bufferingPolicy: throwingPolicy)
      var answers = (0..<5).map { text(continuation.yield($0)) }
      precondition(answers == (0..<5).map { text(other.yield($0)) })
      continuation.finish()
      other.finish(throwing: Failure.one)
      answers.append(text(continuation.yield(9)))
      precondition(text(other.yield(9)) == "end")
      var elements: [Int] = [], others: [Int] = []
      for await element in stream { elements.append(element) }
      do {
        for try await element in throwing { others.append(element) }
        preconditionFailure("has failed")
      } catch { precondition(error as? Failure == .one) }
      precondition(elements == others)
      print(policy, answers.joined(separator: " "), elements)
    }
  }
}

/// What yield() answers holds the element that is dropped, whatever its type.
func checkResults<T>(_ name: String, _ make: (Int) -> T, _ same: (T, T) -> Bool) {
  func check(_ result: AsyncStream<T>.Continuation.YieldResult, drops number: Int?) {
    switch result {
    case .enqueued(let remaining): precondition(number == nil && remaining <= 1)
    case .dropped(let element): precondition(same(element, make(number!)))
    default: preconditionFailure(name)
    }
  }
  func check(_ result: AsyncThrowingStream<T, Error>.Continuation.YieldResult, drops number: Int?) {
    switch result {
    case .enqueued(let remaining): precondition(number == nil && remaining <= 1)
    case .dropped(let element): precondition(same(element, make(number!)))
    default: preconditionFailure(name)
    }
  }
  for isNewest in [false, true] {
    let (stream, continuation) = AsyncStream<T>.makeStream(
      bufferingPolicy: isNewest ? .bufferingNewest(2) : .bufferingOldest(2))
    let (throwing, other) = AsyncThrowingStream<T, Error>.makeStream(
      bufferingPolicy: isNewest ? .bufferingNewest(2) : .bufferingOldest(2))
    for number in 0..<10 {
      let dropped = number < 2 ? nil : isNewest ? number - 2 : number
      if number % 3 == 0 {
        check(continuation.yield(with: .success(make(number))), drops: dropped)
        check(other.yield(with: .success(make(number))), drops: dropped)
      } else {
        check(continuation.yield(make(number)), drops: dropped)
        check(other.yield(make(number)), drops: dropped)
      }
    }
    continuation.finish()
    if case .terminated = continuation.yield(make(0)) {} else { preconditionFailure(name) }
    if case .terminated = other.yield(with: .failure(Failure.one)) {} else { preconditionFailure(name) }
    if case .terminated = other.yield(make(0)) {} else { preconditionFailure(name) }
    withExtendedLifetime((stream, throwing)) {}
  }
}

func checkConsumers() async {
  // More than once, so that those that wait wrap around, too.
  let (stream, continuation) = AsyncStream<Int>.makeStream()
  for _ in 0..<3 {
    let numbers = await withTaskGroup(of: Int?.self) { group in
      for _ in 0..<500 {
        group.addTask {
          var iterator = stream.makeAsyncIterator()
          return await iterator.next()
        }
      }
      for number in 0..<500 {
        if number % 100 == 0 { await Task.yield() }
        continuation.yield(number)
      }
      return await group.reduce(into: [Int]()) { $0.append($1!) }
    }
    precondition(numbers.sorted() == Array(0..<500))
  }
  // Elements are there already.
  for number in 0..<500 { continuation.yield(number) }
  let taken = await withTaskGroup(of: [Int].self) { group in
    for _ in 0..<5 {
      group.addTask {
        var iterator = stream.makeAsyncIterator(), numbers: [Int] = []
        for _ in 0..<100 { numbers.append(await iterator.next()!) }
        precondition(numbers == numbers.sorted())
        return numbers
      }
    }
    return await group.reduce(into: []) { $0 += $1 }
  }
  precondition(taken.sorted() == Array(0..<500))
  let ended = await withTaskGroup(of: Int?.self) { group in
    for _ in 0..<500 {
      group.addTask {
        var iterator = stream.makeAsyncIterator()
        return await iterator.next()
      }
    }
    await Task.yield()
    DispatchQueue.global().async { continuation.finish() }
    return await group.reduce(into: 0) { $0 += $1 == nil ? 1 : 0 }
  }
  precondition(ended == 500)
  print("consumers")
}

/// One consumer that yields to itself: it must see its own order, and others' elements once.
func checkProducers() async {
  let (stream, continuation) = AsyncStream<Int>.makeStream()
  await withTaskGroup(of: Void.self) { group in
    for producer in 0..<4 {
      group.addTask {
        for number in 0..<2_500 { continuation.yield(producer * 10_000 + number) }
      }
    }
    group.addTask {
      var next = [0, 0, 0, 0], count = 0
      for await element in stream {
        let producer = element / 10_000
        precondition(element % 10_000 == next[producer])
        next[producer] += 1
        count += 1
        if count == 10_000 { continuation.finish() }
      }
      precondition(count == 10_000)
    }
  }
  print("producers")
}

func checkCancellation() async throws {
  // In the middle: what is pending is still delivered, and then the end.
  for isEarly in [true, false] {
    let (stream, continuation) = AsyncStream<Counted>.makeStream()
    let (throwing, other) = AsyncThrowingStream<Counted, Error>.makeStream()
    let terminations = Lock<[String]>([])
    continuation.onTermination = { reason in terminations.change { $0.append("\(reason)") } }
    other.onTermination = { reason in
      if case .cancelled = reason { terminations.change { $0.append("cancelled") } }
    }
    for number in 0..<10 {
      continuation.yield(Counted(number))
      other.yield(Counted(number))
    }
    let task = Task {
      var numbers: [Int] = []
      if isEarly { withUnsafeCurrentTask { $0!.cancel() } }
      for await element in stream {
        if element.number == 4 { withUnsafeCurrentTask { $0!.cancel() } }
        numbers.append(element.number)
      }
      for try await element in throwing { numbers.append(element.number) }
      return numbers
    }
    let numbers = try await task.value
    precondition(numbers == Array(0..<10) + Array(0..<10))
    precondition(terminations.value == ["cancelled", "cancelled"])
    if case .terminated = continuation.yield(Counted(11)) {} else { preconditionFailure() }
    if case .terminated = other.yield(Counted(11)) {} else { preconditionFailure() }
  }

  // While it waits, from another thread.
  let (stream, continuation) = AsyncStream<Int>.makeStream()
  let (throwing, _) = AsyncThrowingStream<Int, Error>.makeStream()
  let task = Task {
    var count = 0
    for await _ in stream { count += 1 }
    for try await _ in throwing { count += 1 }
    return count
  }
  continuation.yield(1)
  DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) { task.cancel() }
  let count = try await task.value
  precondition(count == 1)

  // Before the first next().
  let (empty, _) = AsyncStream<Int>.makeStream()
  let cancelled = Task {
    while !Task.isCancelled { await Task.yield() }
    for await _ in empty { preconditionFailure() }
  }
  cancelled.cancel()
  await cancelled.value
  print("cancellation")
}

func checkFailure() async throws {
  // What is pending comes first, the failure once, and then the end.
  let (stream, continuation) = AsyncThrowingStream<Int, Error>.makeStream()
  continuation.yield(1)
  continuation.finish(throwing: Failure.one)
  continuation.finish(throwing: Failure.two)
  var iterator = stream.makeAsyncIterator()
  var seen: [String] = []
  for _ in 0..<4 {
    do {
      let next = try await iterator.next()
      seen.append(next.map { "\($0)" } ?? "nil")
    } catch { seen.append("\(error)") }
  }
  print("failure:", seen)

  // For one that waits.
  let (waited, other) = AsyncThrowingStream<Int, Error>.makeStream()
  let task = Task {
    var iterator = waited.makeAsyncIterator()
    do { return "\(try await iterator.next() as Any)" } catch { return "\(error)" }
  }
  DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) {
    other.finish(throwing: Failure.two)
  }
  let result = await task.value
  print("failure while waiting:", result)
}

func checkLifetimes() async throws {
  precondition(Counted.alive.value == 0)
  do {
    // Dropped with elements that wrap around the end of the buffer, and with none.
    let (stream, continuation) = AsyncStream<Counted>.makeStream()
    let (throwing, other) = AsyncThrowingStream<Large, Error>.makeStream()
    let (unused, _) = AsyncStream<Counted>.makeStream()
    var iterator = stream.makeAsyncIterator(), second = throwing.makeAsyncIterator()
    for number in 0..<100 {
      continuation.yield(Counted(number))
      other.yield(Large(a: number, c: "\(number)", object: Counted(number)))
      if number % 3 == 0 {
        let next = await iterator.next(), nextLarge = try await second.next()
        precondition(next!.number == number / 3)
        precondition(nextLarge!.object!.number == number / 3)
      }
    }
    precondition(Counted.alive.value == 2 * 66)
    let (newest, last) = AsyncStream<Counted>.makeStream(bufferingPolicy: .bufferingNewest(2))
    for number in 0..<100 { last.yield(Counted(number)) }
    precondition(Counted.alive.value == 2 * 66 + 2)
    withExtendedLifetime((stream, throwing, unused, newest)) {}
  }
  precondition(Counted.alive.value == 0)
  print("lifetimes")
}

/// Whoever ends the stream, and whenever: the consumer gets the first elements and then the
/// end, and onTermination is called once.
func checkRaces() async {
  for round in 0..<600 {
    let (stream, continuation) = AsyncStream<Int>.makeStream()
    let terminations = Lock(0)
    continuation.onTermination = { _ in terminations.change { $0 += 1 } }
    let consumer = Task {
      var count = 0
      for await element in stream {
        precondition(element == count)
        count += 1
        if round % 6 == 5, count == 10 { break }
      }
      return count
    }
    let producer = Task {
      for number in 0..<50 {
        if number % 10 == 0 { await Task.yield() }
        continuation.yield(number)
      }
      if round % 6 == 0 { continuation.finish() }
    }
    DispatchQueue.global().async {
      for _ in 0..<(round * 7 % 400) { _ = terminations.value }
      switch round % 6 {
      case 1: consumer.cancel()
      case 2: continuation.finish()
      case 3: consumer.cancel(); continuation.finish()
      case 4: continuation.finish(); consumer.cancel()
      case 5: consumer.cancel()
      default: break
      }
    }
    let count = await consumer.value
    await producer.value
    precondition(round % 6 == 0 ? count == 50 : count <= 50)
    if round % 6 == 0 || round % 6 == 1 { precondition(terminations.value == 1) }
    precondition(terminations.value <= 1)
  }
  print("races")
}

@globalActor actor Other {
  static let shared = Other()
}

/// Code after next() runs where it ran before, whether the element was there or not.
actor Consumer {
  var turns = 0
  func takeTurn() { turns += 1 }

  func consume(_ count: Int) async throws {
    let (stream, continuation) = AsyncStream<Int>.makeStream()
    let (throwing, other) = AsyncThrowingStream<Int, Error>.makeStream()
    var iterator = stream.makeAsyncIterator(), second = throwing.makeAsyncIterator()
    for number in 0..<count {
      let isThere = number % 3 != 2
      let send: @Sendable () -> Void = {
        continuation.yield(number)
        other.yield(number)
      }
      if isThere { send() } else { Task.detached { send() } }
      let next = await number % 2 == 0 ? iterator.next() : iterator.next(isolation: self)
      preconditionIsolated()
      let nextThrowing = try await number % 2 == 0 ? second.next() : second.next(isolation: self)
      preconditionIsolated()
      precondition(next == number && nextThrowing == number)
    }
    for number in 0..<count { continuation.yield(number) }
    continuation.finish()
    for await _ in stream { preconditionIsolated() }
    for number in 0..<count { other.yield(number) }
    other.finish(throwing: Failure.one)
    do {
      for try await _ in throwing { preconditionIsolated() }
      preconditionFailure()
    } catch { preconditionIsolated() }
  }

  /// Other jobs of the actor get their turn while there are elements.
  func share(_ stream: AsyncStream<Int>, _ throwing: AsyncThrowingStream<Int, Error>) async throws {
    for isThrowing in [false, true] {
      turns = 0
      var numbers = 0
      func count() {
        if numbers % 1_000 == 0 {
          precondition(turns == numbers / 1_000)
          Task { takeTurn() }
          // The actor is left after 0.1 ms at the latest.
          let end = ContinuousClock.now + .microseconds(200)
          while ContinuousClock.now < end {}
        } else if numbers % 1_000 == 500 {
          precondition(turns == numbers / 1_000 + 1)
        }
        numbers += 1
      }
      if isThrowing {
        for try await _ in throwing { count() }
      } else {
        for await _ in stream { count() }
      }
      precondition(numbers == 10_000 && turns == 10)
    }
  }
}

@MainActor func consumeOnMain() async {
  let (stream, continuation) = AsyncStream<Int>.makeStream()
  for number in 0..<200 { continuation.yield(number) }
  continuation.finish()
  for await _ in stream { MainActor.preconditionIsolated() }
}

@Other func consumeOnOther() async {
  let (stream, continuation) = AsyncStream<Int>.makeStream()
  for number in 0..<200 { continuation.yield(number) }
  continuation.finish()
  var iterator = stream.makeAsyncIterator()
  // On another actor, and back.
  while await iterator.next(isolation: MainActor.shared) != nil { Other.preconditionIsolated() }
}

func consume(isolation: isolated (any Actor)?) async {
  let (stream, continuation) = AsyncStream<Int>.makeStream()
  for number in 0..<200 { continuation.yield(number) }
  continuation.finish()
  for await _ in stream { isolation?.preconditionIsolated() }
}

func checkIsolation() async throws {
  let consumer = Consumer()
  try await consumer.consume(200)
  await consume(isolation: consumer)
  await consume(isolation: nil)
  await consumeOnMain()
  await consumeOnOther()
  let (stream, continuation) = AsyncStream<Int>.makeStream()
  let (throwing, other) = AsyncThrowingStream<Int, Error>.makeStream()
  for number in 0..<10_000 {
    continuation.yield(number)
    other.yield(number)
  }
  continuation.finish()
  other.finish()
  try await consumer.share(stream, throwing)
  print("isolation")
}

/// An element whose deinit uses the stream.
final class Yields: Sendable {
  let continuation: AsyncStream<Yields?>.Continuation
  static let alive = Lock(0)
  init(_ continuation: AsyncStream<Yields?>.Continuation) {
    self.continuation = continuation
    Self.alive.change { $0 += 1 }
  }
  deinit {
    Self.alive.change { $0 -= 1 }
    continuation.yield(nil)
  }
}

func checkReentrancy() async {
  let (stream, continuation) = AsyncStream<Yields?>.makeStream(
    bufferingPolicy: .bufferingNewest(1))
  for _ in 0..<10 { continuation.yield(Yields(continuation)) }
  var iterator = stream.makeAsyncIterator()
  let next = await iterator.next()
  precondition(next != nil)
  // Nobody keeps an element that comes after the end.
  continuation.finish()
  let before = Yields.alive.value
  for _ in 0..<10 { continuation.yield(Yields(continuation)) }
  precondition(Yields.alive.value == before)
  print("reentrancy")
}

@main struct Main {
  static func main() async throws {
    // CHECK: order: Void
    try await checkOrder("Void", { _ in () }, { _, _ in true })
    // CHECK: order: UInt8
    try await checkOrder("UInt8", { UInt8(truncatingIfNeeded: $0) }, ==)
    // CHECK: order: Int?
    try await checkOrder("Int?", { $0 % 3 == 0 ? nil : $0 }, ==)
    // CHECK: order: String
    try await checkOrder("String", { "number \($0) with more text" }, ==)
    // CHECK: order: Large
    try await checkOrder("Large", { Large(a: $0, c: "\($0)", object: Counted($0)) }, ==)
    // CHECK: order: SIMD8
    try await checkOrder("SIMD8", { SIMD8<Double>(repeating: Double($0)) }, ==)
    // CHECK: order: Choice
    try await checkOrder("Choice", {
      [.none, .number($0), .text("\($0)"), .both($0, "\($0)")][$0 % 4] as Choice
    }, ==)
    // CHECK: order: empty
    try await checkOrder("empty", { _ in Empty() }, { _, _ in true })
    // CHECK: order: Box
    try await checkOrder("Box", { Box(Unique(number: $0)) }, { $0.value.number == $1.value.number })
    // CHECK: order: Weak
    let kept = Box(Unique(number: 0))
    try await checkOrder("Weak", { _ in Weak(object: kept) }, { $0.object === $1.object })
    // CHECK: order: existential
    try await checkOrder("existential", {
      ($0 % 2 == 0 ? $0 : "\($0)") as any CustomStringConvertible
    }, { $0.description == $1.description })
    // CHECK: order: 300 bytes
    try await checkOrder("300 bytes", { InlineBytes(first: UInt8(truncatingIfNeeded: $0)) }, {
      $0.first == $1.first
    })
    // CHECK: order: Counted
    try await checkOrder("Counted", Counted.init, { $0.number == $1.number })
    // CHECK: order: Any
    try await checkOrder("Any", { $0 as Any }, { $0 as! Int == $1 as! Int })
    // CHECK: order: function
    try await checkOrder("function", { n in { n } }, { $0() == $1() })

    // CHECK: bufferingOldest(0) -0 -1 -2 -3 -4 end []
    // CHECK-NEXT: bufferingNewest(0) -0 -1 -2 -3 -4 end []
    // CHECK-NEXT: unbounded + + + + + end [0, 1, 2, 3, 4]
    // CHECK-NEXT: bufferingOldest(1) +0 -1 -2 -3 -4 end [0]
    // CHECK-NEXT: bufferingNewest(1) +0 -0 -1 -2 -3 end [4]
    // CHECK-NEXT: unbounded + + + + + end [0, 1, 2, 3, 4]
    // CHECK-NEXT: bufferingOldest(3) +2 +1 +0 -3 -4 end [0, 1, 2]
    // CHECK-NEXT: bufferingNewest(3) +2 +1 +0 -0 -1 end [2, 3, 4]
    // CHECK-NEXT: unbounded + + + + + end [0, 1, 2, 3, 4]
    try await checkPolicies()
    // CHECK: consumers
    await checkConsumers()
    // CHECK: isolation
    try await checkIsolation()
    // CHECK: producers
    await checkProducers()
    // CHECK: cancellation
    try await checkCancellation()
    // CHECK: races
    await checkRaces()
    // CHECK: failure: ["1", "one", "nil", "nil"]
    // CHECK: failure while waiting: two
    try await checkFailure()
    // CHECK: lifetimes
    try await checkLifetimes()
    // CHECK: reentrancy
    await checkReentrancy()
  }
}
