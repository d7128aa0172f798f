// One kind of operation each.

private let batch = 1000

let microRows = [
  Row.own("retain.own") { retaining(newObject()) },

  Row(name: "retain.adjacent", shares: "cache lines") { workers in
    let objects = adjacent(workers, { newObject() }, { Unmanaged.passUnretained($0).toOpaque() })
    return objects.map { object in { retaining(object) } }
  },

  Row(name: "retain.shared", shares: "an object") { workers in
    let object = newObject()
    return Array(repeating: { retaining(object) }, count: workers)
  },

  Row(name: "retain.immortal", shares: "an immortal object") { workers in
    let object = newObject()
    scaling_immortalize(Unmanaged.passUnretained(object).toOpaque())
    // As a program does before it hands the object to its workers.
    scaling_pairs(Unmanaged.passUnretained(object).toOpaque(), 1000)
    return Array(repeating: { retaining(object) }, count: workers)
  },

  Row(name: "retain.static", shares: "a static object") { workers in
    Array(repeating: {
      let object = unsafeBitCast(staticArray, to: UnsafeMutableRawPointer.self)
      return { scaling_pairs(object, batch); return batch }
    }, count: workers)
  },

  Row.own("cast") {
    let node = Node(1)
    return times { _ in scored(node) }
  },

  Row.own("cast.any") {
    let value: Any = Leaf()
    return times { _ in asScored(value) ? 1 : 0 }
  },

  Row.own("cast.fails") {
    let value: Any = Other()
    return times { _ in asScored(value) ? 1 : 0 }
  },

  Row.own("metadata") { times { lookUpMetadata($0) } },

  Row.own("metadata.same") { times { _ in lookUpMetadata(0) } },

  Row.own("closure") {
    let captured = Int.random(in: 1...9)
    return times { makeAdder(captured)($0) }
  },

  Row.own("exclusivity") {
    let counter = Counter()
    return times { _ in counter.add(); return counter.value }
  },

  Row.own("weak") {
    let node = Node(1)
    weak var reference = node
    return times { _ in withExtendedLifetime(node) { reference?.value ?? 0 } }
  },

  Row.own("alloc") { times { newNode($0).value } },
]

/// Something that the optimizer must compute: nobody reads it.
@inline(never) @_optimize(none)
private func use(_ value: Int) {}

/// A batch of an operation that is given its number.
private func times(_ operation: @escaping (Int) -> Int) -> Work {
  {
    var sum = 0
    for number in 0..<batch { sum &+= operation(number) }
    use(sum)
    return batch
  }
}

private func retaining(_ object: AnyObject) -> Work {
  { scaling_pairs(Unmanaged.passUnretained(object).toOpaque(), batch); return batch }
}

@inline(never)
private func newObject() -> AnyObject { Small() }

private final class Small {}

/// Its elements are constants, so that the compiler makes the object, which is never counted.
private let staticArray: [Int] = [3, 7, 25, 50]

private struct Leaf: Scored {
  var score: Int { 1 }
}

private struct Other {}

@inline(never)
private func asScored(_ value: Any) -> Bool { value is any Scored }

private struct Wrapped<T> {}

@inline(never) @_optimize(none)
private func metadata<T>(_: T.Type) -> Any.Type { Wrapped<T>.self }

/// One look-up of a generic type: of another one when `number` is odd. Returns `number`.
@inline(never)
func lookUpMetadata(_ number: Int) -> Int {
  let type = number & 1 == 0 ? metadata(Int.self) : metadata(Double.self)
  return type == Never.self ? 0 : number
}

@inline(never)
private func makeAdder(_ captured: Int) -> (Int) -> Int { { $0 &+ captured } }

private final class Counter {
  var value = 0

  /// The access lasts for the call, and is checked at run time.
  @inline(never)
  func add() { increment(&value) }
}

@inline(never)
private func increment(_ value: inout Int) { value &+= 1 }

// Not inlined, or the object would be put on the stack.
@inline(never)
private func newNode(_ value: Int) -> Node { Node(value) }

/// `count` things whose objects follow each other, in pairs that share a cache line where
/// the allocator does that: --cache-line-malloc does not.
func adjacent<Thing>(
  _ count: Int, _ make: () -> Thing, _ object: (Thing) -> UnsafeMutableRawPointer
) -> [Thing] {
  let all = (0..<(64 + 8 * count)).map { _ in make() }
    .map { (line: UInt(bitPattern: object($0)) >> 6, thing: $0) }
  var found: [Thing] = []
  for (first, second) in zip(all, all.dropFirst()) where first.line == second.line {
    found += [first.thing, second.thing]
    if found.count >= count { return Array(found.prefix(count)) }
  }
  return all.prefix(count).map(\.thing)
}
