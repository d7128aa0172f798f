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

// Questions that the runtime has answered before, and finds in its caches.
//
// Cast.Class:    an object that conforms to the protocol.
// Cast.Fails:    an object that does not.
// Metadata.Same: one generic type, again and again.
// Metadata.Two:  two of them in turn, so that the last one is never the right one.

import TestsUtils

public let benchmarks = [
  entry("Cast.Class") { number in
    castsToNamed(number % 2 == 0 ? named : alsoNamed) ? 1 : 0
  },
  entry("Cast.Fails") { _ in castsToNamed(nameless) ? 0 : 1 },
  entry("Metadata.Same") { _ in
    typeOfPair(with: Int.self) == Never.self ? 0 : 1
  },
  entry("Metadata.Two") { number in
    let type =
      number % 2 == 0 ? typeOfPair(with: Int.self) : typeOfPair(with: Double.self)
    return type == Never.self ? 0 : 1
  },
]

/// `ask` is given the number of the question, and returns 1.
private func entry(
  _ name: String, _ ask: @escaping (Int) -> Int
) -> BenchmarkInfo {
  BenchmarkInfo(
    name: "RuntimeCaches." + name,
    runFunction: { n in
      for _ in 0..<n {
        var answers = 0
        for number in 0..<2000 {
          answers &+= ask(number)
        }
        check(answers == 2000)
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

private struct Pair<First, Second> {}

// Not specialized: then the type would be a constant.
@inline(never) @_optimize(none)
private func typeOfPair<T>(with _: T.Type) -> Any.Type { Pair<T, Bool>.self }
