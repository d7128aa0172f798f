// RUN: %target-run-simple-swift(-O)
// REQUIRES: executable_test
// UNSUPPORTED: OS=windows-msvc
// UNSUPPORTED: freestanding
// UNSUPPORTED: back_deployment_runtime

// Threads look up generic types that other threads are making at the same time. The
// tables grow under the readers, from the first entry on, again and again: each generic
// type has tables of its own. A reader that met an entry before its pointer is set would
// crash; one that missed an entry that is there would make a second type.

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

let threadCount = 8
let depth = 16
let argumentCount = depth * depth
let rounds = 100

struct Zero {}
struct Next<T> {}
struct Two<T, U> {}

// A table each: none of these exists before its round.
struct A<T, Round> {}
final class B<T, Round> { var value: T? = nil }
enum C<T, Round> { case one(T), two }

func fail(_ message: String) -> Never {
  print(message)
  exit(1)
}

@inline(never) @_optimize(none)
func next<T>(_: T.Type) -> Any.Type { Next<T>.self }

@inline(never) @_optimize(none)
func instantiate<T, Round>(_: T.Type, _: Round.Type) -> [Any.Type] {
  [A<T, Round>.self, B<T, Round>.self, C<T, Round>.self]
}

func make(_ argument: Any.Type, _ round: Any.Type) -> [Any.Type] {
  func open<T>(_: T.Type) -> [Any.Type] {
    func openRound<R>(_: R.Type) -> [Any.Type] { instantiate(T.self, R.self) }
    return _openExistential(round, do: openRound)
  }
  return _openExistential(argument, do: open)
}

func two(_ first: Any.Type, _ second: Any.Type) -> Any.Type {
  func open<T>(_: T.Type) -> Any.Type {
    func openSecond<U>(_: U.Type) -> Any.Type { Two<T, U>.self }
    return _openExistential(second, do: openSecond)
  }
  return _openExistential(first, do: open)
}

var numbers: [Any.Type] = [Zero.self]
while numbers.count < depth { numbers.append(_openExistential(numbers.last!, do: next)) }
nonisolated(unsafe) let arguments = numbers.flatMap { first in
  numbers.map { two(first, $0) }
}

/// How often threads have come to the beginning of a round.
final class Arrivals: @unchecked Sendable {
  private var mutex = pthread_mutex_t()
  private var count = 0

  init() { pthread_mutex_init(&mutex, nil) }

  @inline(never) @_optimize(none)
  func add(_ more: Int) -> Int {
    pthread_mutex_lock(&mutex)
    defer { pthread_mutex_unlock(&mutex) }
    count += more
    return count
  }
}

let arrivals = Arrivals()

final class Worker: @unchecked Sendable {
  let index: Int
  var identities: [[ObjectIdentifier]] = []
  init(_ index: Int) { self.index = index }

  func run() {
    for round in 0..<rounds {
      // All threads begin a round together.
      _ = arrivals.add(1)
      while arrivals.add(0) < (round + 1) * threadCount { sched_yield() }
      var found: [ObjectIdentifier?] = Array(repeating: nil, count: 3 * argumentCount)
      // Odd threads follow the even ones, so that they read what is just being made; all
      // look up what they have seen before, too.
      for step in 0..<argumentCount {
        let position = (step + index / 2 * argumentCount / threadCount) % argumentCount
        for (kind, type) in make(arguments[position], arguments[round]).enumerated() {
          found[3 * position + kind] = ObjectIdentifier(type)
        }
        let earlier = step * 7 % argumentCount
        if let first = found[3 * earlier],
          ObjectIdentifier(make(arguments[earlier], arguments[round])[0]) != first {
          fail("a type has changed its identity")
        }
      }
      identities.append(found.map { $0! })
    }
  }
}

func start(_ worker: Worker) -> pthread_t {
#if canImport(Darwin)
  var thread: pthread_t? = nil
#else
  var thread = pthread_t()
#endif
  let status = pthread_create(&thread, nil, { argument in
    let argument: UnsafeMutableRawPointer? = argument
    Unmanaged<Worker>.fromOpaque(argument!).takeRetainedValue().run()
    return nil
  }, Unmanaged.passRetained(worker).toOpaque())
  if status != 0 { fail("pthread_create: \(status)") }
#if canImport(Darwin)
  return thread!
#else
  return thread
#endif
}

// The types of the workers' arrays exist before: ThreadSanitizer does not see how compiled
// code hands over types that it has looked up.
@inline(never) @_optimize(none)
func makeArrays() -> [[ObjectIdentifier]] {
  let found: [ObjectIdentifier?] = Array(repeating: ObjectIdentifier(Zero.self), count: 2)
  return [found.map { $0! }]
}
if makeArrays() != [[ObjectIdentifier(Zero.self), ObjectIdentifier(Zero.self)]] { fail("arrays") }

let workers = (0..<threadCount).map(Worker.init)
for thread in workers.map(start) { pthread_join(thread, nil) }
for worker in workers where worker.identities != workers[0].identities {
  fail("threads have made different types")
}
print("done")
