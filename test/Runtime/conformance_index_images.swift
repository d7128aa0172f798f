// RUN: %empty-directory(%t)
// RUN: %target-build-swift-dylib(%t/%target-library-name(Shared)) -module-name Shared -emit-module -emit-module-path %t/Shared.swiftmodule %S/Inputs/conformance_index_shared.swift
// RUN: %target-build-swift-dylib(%t/%target-library-name(First)) -DFIRST -module-name First -I %t -L %t -lShared %target-rpath(%t) %S/Inputs/conformance_index_twice.swift
// RUN: %target-build-swift-dylib(%t/%target-library-name(Second)) -module-name Second -I %t -L %t -lShared %target-rpath(%t) %S/Inputs/conformance_index_twice.swift
// RUN: %target-clang -x c -c %S/Inputs/conformance_index_images.c -o %t/images.o
// RUN: %target-build-swift -swift-version 5 -module-name Main -import-objc-header %S/Inputs/conformance_index_images.h %s %t/images.o -o %t/a.out -I %t -L %t -lShared %target-rpath(%t)
// RUN: %target-codesign %t/a.out %t/%target-library-name(Shared) %t/%target-library-name(First) %t/%target-library-name(Second)
// RUN: %target-run %t/a.out %t/%target-library-name(First) %t/%target-library-name(Second) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: shell
// UNSUPPORTED: use_os_stdlib
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// REQUIRES: OS=linux-gnu
// The program has a malloc of its own.
// UNSUPPORTED: asan, tsan

// XFAIL: without_conformance-index

// What the images of conformances can be: without records, with records that say nothing, thousands
// of them, two with the same conformances. What can happen while their indexes are made: no
// memory, and signals whose handler casts. The answers are those of a scan.

import Glibc
import Shared

protocol Asked {}
struct Yes<T>: Asked {}
struct No<T> {}
struct Known: Asked {}

@inline(never) func isAsked(_ type: Any.Type) -> Bool { type is any Asked.Type }
@inline(never) func answer(_ value: Any) -> Int { (value as? any AnsweringProtocol)?.answer ?? 0 }

var last: Any.Type = Int.self

/// Types for which nobody has asked: the first of each pair conforms.
func makeTypes(_ count: Int) -> [(Any.Type, Any.Type)] {
  func yes<T>(_: T.Type) -> Any.Type { Yes<T>.self }
  func no<T>(_: T.Type) -> Any.Type { No<T>.self }
  return (0..<count).map { _ in
    let pair = (_openExistential(last, do: yes), _openExistential(last, do: no))
    last = pair.1
    return pair
  }
}

func ask(_ types: [(Any.Type, Any.Type)]) {
  for (one, other) in types {
    precondition(isAsked(one))
    precondition(!isAsked(other))
  }
}

func ask(_ count: Int) { ask(makeTypes(count)) }

func testMemory() {
  let types = makeTypes(4)
  failLargeAllocations(1)
  ask(types)
  failLargeAllocations(0)
  // CHECK: no memory for an index: true
  print("no memory for an index:", failedAllocations() > 0)
  ask(4)
}

func testImages() {
  addEmptyImage()
  ask(2)
  addDamagedImage()
  ask(20)
  // CHECK-NEXT: damaged
  print("damaged")

  // The first search scans all, so the index of each image is made while signals come. Their
  // handler asks for what is known, which takes no lock.
  addManyImages(3000)
  precondition(isAsked(Known.self))
  startSignals { _ in precondition(isAsked(Known.self)) }
  repeat { ask(1) } while signalCount() < 5
  stopSignals()
  addEmptyImage()
  ask(20)
  // CHECK-NEXT: many
  print("many")
}

func testTwice() {
  let values: [Any] = [Twice0(), Twice1(), Twice2(), Twice3()]
  precondition(dlopen(CommandLine.arguments[1], RTLD_NOW) != nil)
  precondition(dlopen(CommandLine.arguments[2], RTLD_NOW) != nil)
  // The first look-up scans the images, and the others find their indexes.
  // CHECK-NEXT: twice: [1, 1, 1, 1]
  print("twice:", values.map(answer))
}

// Before any index is made.
testMemory()
testImages()
testTwice()
