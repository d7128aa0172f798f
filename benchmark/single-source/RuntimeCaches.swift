//===--- RuntimeCaches.swift ----------------------------------------------===//
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

// Questions that the runtime has answered before, and finds in its caches; and some
// that it has not.
//
// Cast.Class:       an object that conforms to the protocol.
// Cast.Any:         the same, as Any.
// Cast.AnyStruct:   a struct that conforms, as Any.
// Cast.AnyOptional: the same in an Optional, which is unwrapped.
// Cast.Fails:       an object that does not conform.
// Cast.AnyFails:    a struct that does not, as Any.
// Cast.AnyOptionalFails: the same in an Optional.
// Cast.AnyHashable: a struct that conforms, in an AnyHashable, as Any.
// Cast.AnyHashableFails: one that does not.
// Cast.Isolated:    a struct whose conformance is isolated to the main actor, there.
// First.Conforms:   100 types that nobody has asked for, which conform.
// First.Fails:      100 that do not.
// Metadata.Same:    one generic type, again and again.
// Metadata.Two:     two of them in turn, so that the last one is never the right one.
// Metadata.Run.N:   one of them N times, and then the other.
// Metadata.Many:    sixteen of them in turn.
// TypeName.Missing: the name of a type that no image has, and a nested one.
// TypeName.There:   the name of a type that is there.

import TestsUtils

public let benchmarks = [
  entry("Cast.Class") { number in
    castsToNamed(number % 2 == 0 ? named : alsoNamed) ? 1 : 0
  },
  entry("Cast.Any") { number in castsAnyToNamed(anyNamed[number % 2]) ? 1 : 0 },
  entry("Cast.AnyStruct") { _ in castsAnyToNamed(anyStruct) ? 1 : 0 },
  entry("Cast.AnyOptional") { _ in castsAnyToNamed(anyOptional) ? 1 : 0 },
  entry("Cast.Fails") { _ in castsToNamed(nameless) ? 0 : 1 },
  entry("Cast.AnyFails") { _ in castsAnyToNamed(anyNameless) ? 0 : 1 },
  entry("Cast.AnyOptionalFails") { _ in castsAnyToNamed(anyNamelessOptional) ? 0 : 1 },
  entry("Cast.AnyHashable") { _ in castsAnyToNamed(anyHashable) ? 1 : 0 },
  entry("Cast.AnyHashableFails") { _ in castsAnyToNamed(anyNamelessHashable) ? 0 : 1 },
  entry("Cast.Isolated") { _ in
    blackHole(castsAnyToNamed(anyIsolated))
    return 1
  },
  entry("First.Conforms", count: 100) { _ in isNamed(newType(ofNamed: true)) ? 1 : 0 },
  entry("First.Fails", count: 100) { _ in isNamed(newType(ofNamed: false)) ? 0 : 1 },
  entry("Metadata.Same") { _ in
    typeOfPair(with: Int.self) == Never.self ? 0 : 1
  },
  entry("Metadata.Two") { number in
    let type =
      number % 2 == 0 ? typeOfPair(with: Int.self) : typeOfPair(with: Double.self)
    return type == Never.self ? 0 : 1
  },
  entry("Metadata.Run.16") { typeOfRun($0 / 16) },
  entry("Metadata.Run.100") { typeOfRun($0 / 100) },
  entry("Metadata.Run.1000") { typeOfRun($0 / 1000) },
  entry("Metadata.Many") { number in
    (number % 16 < 8 ? typeOfOne(number % 8) : typeOfOther(number % 8)) == Never.self
      ? 0 : 1
  },
  entry("TypeName.Missing", count: 10) { number in
    _typeByName(number % 2 == 0 ? "4Many6AbsentV" : "4Many6AbsentV5InnerV") == nil ? 1 : 0
  },
  entry("TypeName.There", count: 10) { _ in _typeByName("13RuntimeCaches5ThereV") == nil ? 0 : 1 },
]

public struct There {}

/// `ask` is given the number of the question, and returns 1.
private func entry(
  _ name: String, count: Int = 2000, _ ask: @escaping (Int) -> Int
) -> BenchmarkInfo {
  BenchmarkInfo(
    name: "RuntimeCaches." + name,
    runFunction: { n in
      for _ in 0..<n {
        var answers = 0
        for number in 0..<count {
          answers &+= ask(number)
        }
        check(answers == count)
      }
    },
    tags: [.runtime, .metadata])
}

private protocol Named {}
private class Object {}
private final class First: Object, Named {}
private final class Second: Object, Named {}
private final class Nameless: Object {}

private let named: Object = First()
private let alsoNamed: Object = Second()
private let nameless: Object = Nameless()

@inline(never)
private func castsToNamed(_ object: Object) -> Bool { object is any Named }

private struct NamedStruct: Named { var value = 1 }
private struct NamelessStruct { var value = 1 }

private let anyNamed: [Any] = [First(), Second()]
private let anyStruct: Any = NamedStruct()
private let anyOptional: Any = Optional(NamedStruct()) as Any
private let anyNameless: Any = NamelessStruct()

private let anyNamelessOptional: Any = Optional(NamelessStruct()) as Any

private struct NamedKey: Named, Hashable { var value = 1 }
private struct NamelessKey: Hashable { var value = 1 }

private let anyHashable: Any = AnyHashable(NamedKey())
private let anyNamelessHashable: Any = AnyHashable(NamelessKey())

private struct Isolated { var value = 1 }
extension Isolated: @MainActor Named {}

private let anyIsolated: Any = Isolated()

@inline(never)
private func castsAnyToNamed(_ value: Any) -> Bool { value is any Named }

/// A tree of types, from each of which one type is made that nobody has asked for.
private struct Left<T> {}
private struct Right<T> {}
private struct NamedLeaf<T>: Named {}
private struct NamelessLeaf<T> {}

private var parents: [Any.Type] = [Int.self]
private var parentsTaken = 0

private func newType(ofNamed isNamed: Bool) -> Any.Type {
  func left<T>(_: T.Type) -> Any.Type { Left<T>.self }
  func right<T>(_: T.Type) -> Any.Type { Right<T>.self }
  func named<T>(_: T.Type) -> Any.Type { NamedLeaf<T>.self }
  func nameless<T>(_: T.Type) -> Any.Type { NamelessLeaf<T>.self }
  let parent = parents[parentsTaken]
  parentsTaken += 1
  parents.append(_openExistential(parent, do: left))
  parents.append(_openExistential(parent, do: right))
  return isNamed
    ? _openExistential(parent, do: named) : _openExistential(parent, do: nameless)
}

@inline(never)
private func isNamed(_ type: Any.Type) -> Bool { type is any Named.Type }

private struct Pair<First, Second> {}

// Not specialized: then the type would be a constant.
@inline(never) @_optimize(none)
private func typeOfPair<T>(with _: T.Type) -> Any.Type { Pair<T, Bool>.self }

private func typeOfRun(_ run: Int) -> Int {
  let type = run % 2 == 0 ? typeOfPair(with: Int.self) : typeOfPair(with: Double.self)
  return type == Never.self ? 0 : 1
}

private func typeOfOne(_ number: Int) -> Any.Type {
  switch number {
  case 0: return typeOfPair(with: Int.self)
  case 1: return typeOfPair(with: Int8.self)
  case 2: return typeOfPair(with: Int16.self)
  case 3: return typeOfPair(with: Int32.self)
  case 4: return typeOfPair(with: Int64.self)
  case 5: return typeOfPair(with: Double.self)
  case 6: return typeOfPair(with: Float.self)
  default: return typeOfPair(with: String.self)
  }
}

private func typeOfOther(_ number: Int) -> Any.Type {
  switch number {
  case 0: return typeOfPair(with: UInt.self)
  case 1: return typeOfPair(with: UInt8.self)
  case 2: return typeOfPair(with: UInt16.self)
  case 3: return typeOfPair(with: UInt32.self)
  case 4: return typeOfPair(with: UInt64.self)
  case 5: return typeOfPair(with: Bool.self)
  case 6: return typeOfPair(with: Character.self)
  default: return typeOfPair(with: Substring.self)
  }
}
