// RUN: %empty-directory(%t)
// RUN: %target-build-swift-dylib(%t/%target-library-name(Shared)) -module-name Shared -emit-module -emit-module-path %t/Shared.swiftmodule %S/Inputs/cast_memo_shared.swift
// RUN: %target-build-swift-dylib(%t/%target-library-name(Plugin)) -module-name Plugin -I %t -L %t -lShared %target-rpath(%t) %S/Inputs/cast_memo_plugin.swift
// RUN: %target-build-swift -swift-version 6 %s -o %t/a.out -I %t -L %t -lShared %target-rpath(%t)
// RUN: %target-codesign %t/a.out %t/%target-library-name(Shared) %t/%target-library-name(Plugin)
// RUN: %target-run %t/a.out %t/%target-library-name(Plugin)

// REQUIRES: executable_test
// REQUIRES: shell
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: remote_run || device_run
// UNSUPPORTED: OS=windows-msvc
// UNSUPPORTED: use_os_stdlib
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// Each cast is done again and again: the answer that the runtime keeps must be the
// one that it would find anew.

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif
import Shared
import StdlibUnittest

nonisolated(unsafe) var alive = 0

class Counted {
  init() { alive += 1 }
  deinit { alive -= 1 }
}

final class Object: Counted, Named { func name() -> String { "object" } }
final class Nameless: Counted {}
struct Small: Named { var counted = Counted(); func name() -> String { "small" } }
struct Large: Named {
  var counted = (Counted(), 1, 2, 3, 4)
  func name() -> String { "large" }
}
struct Hashed: Named, Hashable { func name() -> String { "hashed" } }
protocol NamedObject: AnyObject { func name() -> String }
extension Object: NamedObject {}

struct Pair<First, Second>: Named { func name() -> String { "pair" } }
struct Wrapped<T> {}

@inline(never) func cast(_ value: Any) -> String? { (value as? any Named)?.name() }
@inline(never) func castObject(_ value: AnyObject) -> String? {
  (value as? any Named)?.name()
}
@inline(never) func castCounted(_ value: Counted) -> String? {
  (value as? any Named)?.name()
}
@inline(never) func castBound(_ value: Any) -> String? {
  (value as? any NamedObject)?.name()
}
@inline(never) func castConsuming(_ value: consuming Any) -> (any Named)? {
  value as? any Named
}
@inline(never) func castBase(_ value: Base) -> String? {
  (value as? any Named)?.name()
}

let tests = TestSuite("CastMemo")

tests.test("values and objects live as long as they should") {
  for _ in 0..<1000 {
    expectEqual("object", cast(Object()))
    expectEqual("object", castObject(Object()))
    expectEqual("object", castCounted(Object()))
    expectEqual("object", castBound(Object()))
    expectEqual("small", cast(Small()))
    expectEqual("large", cast(Large()))
    expectEqual("large", castConsuming(Large())?.name())
    expectEqual("small", castConsuming(Small())?.name())
    expectEqual("object", castConsuming(Object())?.name())
    expectNil(castCounted(Nameless()))
    expectNil(cast(Nameless()))
    expectNil(castBound(Small()))
    expectEqual(0, alive)
  }
}

tests.test("what is wrapped is unwrapped each time") {
  for _ in 0..<1000 {
    expectEqual("hashed", cast(Optional.some(Hashed()) as Any))
    expectEqual("hashed", cast(AnyHashable(Hashed())))
    expectEqual("hashed", cast(Hashed()))
    expectNil(cast(Optional<Hashed>.none as Any))
    expectNil(cast(AnyHashable(1)))
    expectNil(cast(1))
  }
}

/// Each type is its own combination. There are more than are kept.
func nest<T>(_ value: T, _ depth: Int) -> Any {
  depth == 0 ? value : nest(Optional(value), depth - 1)
}

tests.test("optionals in optionals, 100 deep") {
  for _ in 0..<3 {
    let object = nest(Object(), 100), small = nest(Small(), 100)
    let nameless = nest(Nameless(), 100)
    for _ in 0..<3 {
      expectEqual("object", cast(object))
      expectEqual("small", cast(small))
      expectNil(cast(nameless))
    }
  }
  expectEqual(0, alive)
}

tests.test("many types") {
  var types: [Any.Type] = [Int.self]
  func wrapped<T>(_: T.Type) -> Any.Type { Wrapped<T>.self }
  while types.count < 100 { types.append(_openExistential(types.last!, do: wrapped)) }

  func pair(_ first: Any.Type, _ second: Any.Type) -> Any {
    func open<T>(_: T.Type) -> Any {
      func openSecond<U>(_: U.Type) -> Any { Pair<T, U>() }
      return _openExistential(second, do: openSecond)
    }
    return _openExistential(first, do: open)
  }
  for _ in 0..<2 {
    for first in types { for second in types {
      expectEqual("pair", cast(pair(first, second)))
    } }
    expectEqual("hashed", cast(Hashed()))
  }
}

struct OnMain {}
extension OnMain: @MainActor Named { func name() -> String { "main" } }

/// Not isolated itself, but by its element.
struct Box<Element> { var element: Element }
extension Box: Named where Element: Named { func name() -> String { element.name() } }

func conforms(_ value: Any) -> Bool { value is any Named }

nonisolated(unsafe) let onMain: [Any] = [OnMain(), Box(element: OnMain())]

/// Whether any of them conforms on a thread that is not the main one.
func anyConformsElsewhere() -> Bool {
#if canImport(Darwin)
  var thread: pthread_t? = nil
  pthread_create(&thread, nil, { _ in
    UnsafeMutableRawPointer(bitPattern: onMain.contains(where: conforms) ? 1 : 2)
  }, nil)
  let id = thread!
#else
  var id = pthread_t()
  pthread_create(&id, nil, { _ in
    UnsafeMutableRawPointer(bitPattern: onMain.contains(where: conforms) ? 1 : 2)
  }, nil)
#endif
  var result: UnsafeMutableRawPointer? = nil
  pthread_join(id, &result)
  return Int(bitPattern: result) == 1
}

// Isolated conformances are asked for with the executor of the caller in mind.
tests.test("isolated conformances") {
  for _ in 0..<100 {
    expectTrue(onMain.allSatisfy(conforms))
    expectFalse(anyConformsElsewhere())
  }
}

final class Derived: Base {}
extension Derived { func name() -> String { "derived" } }

// The answers for these types become others when an image is loaded: one that failed,
// and then one that succeeded.
tests.test("conformances that come later") {
  for _ in 0..<100 {
    expectNil(castBase(Base()))
    expectNil(cast(Base()))
    expectNil(cast(Derived()))
  }
  expectNotNil(dlopen(CommandLine.arguments.last!, RTLD_NOW))
  for _ in 0..<100 {
    expectEqual("base", castBase(Base()))
    expectEqual("base", cast(Base()))
    expectEqual("base", castBase(Derived()))
    expectEqual("base", cast(Derived()))
  }
}

runAllTests()
