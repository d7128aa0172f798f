// RUN: %empty-directory(%t)
// RUN: %target-build-swift-dylib(%t/%target-library-name(Shared)) -module-name Shared -emit-module -emit-module-path %t/Shared.swiftmodule %S/Inputs/conformance_index_shared.swift
// RUN: %target-build-swift-dylib(%t/%target-library-name(Plugin)) -module-name Plugin -I %t -L %t -lShared %target-rpath(%t) %S/Inputs/conformance_index_plugin.swift
// RUN: %target-build-swift -swift-version 6 %s -o %t/a.out -I %t -L %t -lShared %target-rpath(%t)
// RUN: %target-codesign %t/a.out %t/%target-library-name(Shared) %t/%target-library-name(Plugin)
// RUN: %target-run %t/a.out %t/%target-library-name(Plugin)

// REQUIRES: executable_test
// REQUIRES: shell
// UNSUPPORTED: remote_run || device_run
// UNSUPPORTED: OS=windows-msvc
// UNSUPPORTED: use_os_stdlib
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// First look-ups of conformances of all kinds of types, by one thread and by many, and
// before and after an image with more of them is loaded. The runtime finds the records
// by an index of each image. In builds with assertions it also compares with a scan.

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif
import Dispatch
import Shared
import StdlibUnittest

protocol P {}
class Base {}
class Middle<T>: Base {}
final class Bottom: Middle<Int> {}
extension Middle: P {}
final class Apart: Base {}
struct Even<T> {}
struct Odd<T> {}
extension Even: P {}
struct Conditional<T> {}
extension Conditional: P where T: P {}
enum Choice: P { case a }
// Imported types: their descriptors are not unique.
extension timespec: P {}
extension timeval: @retroactive Equatable {
  public static func == (a: Self, b: Self) -> Bool { a.tv_sec == b.tv_sec }
}

@inline(never) func conforms(_ type: Any.Type) -> Bool { type is any P.Type }
@inline(never) func isShared(_ type: Any.Type) -> Bool { type is any SharedProtocol.Type }
@inline(never) func isEquatable(_ type: Any.Type) -> Bool { type is any Equatable.Type }

func types(_ count: Int, _ seed: Any.Type) -> [(Any.Type, Bool)] {
  var result: [(Any.Type, Bool)] = [(seed, false)]
  func even<T>(_: T.Type) -> Any.Type { Even<T>.self }
  func odd<T>(_: T.Type) -> Any.Type { Odd<T>.self }
  for number in 1..<count {
    let inner = result[number / 2].0
    result.append(number % 2 == 0
      ? (_openExistential(inner, do: even), true) : (_openExistential(inner, do: odd), false))
  }
  return result
}

let tests = TestSuite("ConformanceIndex")

tests.test("many threads at once") {
  let asked = types(2000, UInt8.self)
  DispatchQueue.concurrentPerform(iterations: 16) { thread in
    for number in 0..<asked.count {
      let (type, answer) = asked[(number + thread * 7) % asked.count]
      expectEqual(answer, conforms(type))
    }
  }
}

tests.test("kinds of types") {
  for _ in 0..<2 {
    expectFalse(conforms(Base.self))
    expectTrue(conforms(Middle<String>.self))
    expectTrue(conforms(Bottom.self))
    expectFalse(conforms(Apart.self))
    expectTrue(conforms(Choice.self))
    expectTrue(conforms(Conditional<Choice>.self))
    expectFalse(conforms(Conditional<Int>.self))
    expectTrue(conforms(timespec.self))
    expectFalse(conforms(timeval.self))
    expectTrue(isEquatable(timeval.self))
    expectFalse(isEquatable(timespec.self))
    expectFalse(conforms((Int, Int).self))
    expectFalse(conforms((() -> Void).self))
    expectFalse(conforms((any P).self))
    expectFalse(conforms(Any.self))
  }
}

tests.test("an image that comes later") {
  expectFalse(isShared(SharedType.self))
  expectFalse(isShared(SharedDerived.self))
  expectFalse(isShared(timeval.self))
  expectNotNil(dlopen(CommandLine.arguments.last!, RTLD_NOW))
  expectTrue(isShared(SharedType.self))
  expectTrue(isShared(SharedDerived.self))
  // The first search of each kind scans, the second one makes the index.
  expectFalse(isShared(timespec.self))
  expectTrue(isShared(timeval.self))
  for (type, answer) in types(200, UInt16.self) { expectEqual(answer, conforms(type)) }
}

runAllTests()
