// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/../Concurrency/Runtime/Inputs/child-process.c -o %t/child-process.o
// RUN: %target-build-swift -O -parse-as-library -import-objc-header %S/../Concurrency/Runtime/Inputs/child-process.h %s %t/child-process.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// UNSUPPORTED: use_os_stdlib
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// REQUIRES: OS=linux-gnu
// A sanitizer's own locks are not ready for threads in a child.
// UNSUPPORTED: asan, tsan

// Two threads make the first casts of thousands of types while the process forks. The
// child casts what is known to conform, from static types that nobody has cast from: that
// never needed a lock, so it must not wait for a thread that stayed in the parent.

import Glibc

protocol Named { func number() -> Int }
class Base {}
class Derived: Base {}
final class First: Derived, Named { func number() -> Int { 1 } }
struct Second: Named { func number() -> Int { 2 } }
struct Nameless {}
struct Leaf<T> {}
struct Pair<T, U>: Named { func number() -> Int { 3 } }
protocol Other {}
extension First: Other {}
extension Second: Other {}
extension Nameless: Other {}

@inline(never) func number(_ value: Any) -> Int { (value as? any Named)?.number() ?? 0 }
@inline(never) func number(of value: AnyObject) -> Int { (value as? any Named)?.number() ?? 0 }
@inline(never) func number(of value: Base) -> Int { (value as? any Named)?.number() ?? 0 }
@inline(never) func number(of value: Derived) -> Int { (value as? any Named)?.number() ?? 0 }
@inline(never) func number(of value: any Other) -> Int { (value as? any Named)?.number() ?? 0 }

nonisolated(unsafe) var values: [Any] = []

func makeValues() {
  var types: [Any.Type] = [Int.self]
  func leaf<T>(_: T.Type) -> Any.Type { Leaf<T>.self }
  while types.count < 60 { types.append(_openExistential(types.last!, do: leaf)) }
  for first in types { for second in types {
    func open<T>(_: T.Type) -> Any {
      func openSecond<U>(_: U.Type) -> Any { Pair<T, U>() }
      return _openExistential(second, do: openSecond)
    }
    values.append(_openExistential(first, do: open))
  } }
}

func start(_ body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?)
  -> pthread_t {
  var thread = pthread_t()
  precondition(pthread_create(&thread, nil, body, nil) == 0)
  return thread
}

/// Forks while two threads cast. Returns how many children were not well.
func forkAmidFirstCasts() -> Int32 {
  var threads: [pthread_t] = []
  threads.append(start { _ in
    for value in values { precondition(number(value) == 3) }
    return nil
  })
  threads.append(start { _ in
    for value in values.reversed() { precondition(number(value) == 3) }
    return nil
  })
  var bad: Int32 = 0
  for _ in 0..<12 {
    let result = runChild({ _ in
      alarm(3)
      let first = First()
      for _ in 0..<10 {
        precondition(number(of: first as AnyObject) == 1)
        precondition(number(of: first as Base) == 1)
        precondition(number(of: first as Derived) == 1)
        precondition(number(of: first as any Other) == 1)
        precondition(number(of: Second() as any Other) == 2)
        precondition(number(of: Nameless() as any Other) == 0)
      }
      return 0
    }, nil)
    if result.status != 0 || result.signal != 0 { bad += 1 }
  }
  for thread in threads { pthread_join(thread, nil) }
  return bad
}

@main struct Main {
  static func main() {
    makeValues()
    // What the children ask for is known, except to whom keeps the answers of casts.
    precondition(number(First()) == 1 && number(Second()) == 2 && number(Nameless()) == 0)
    let types: [Any.Type] = [Base.self, Derived.self, AnyObject.self, (any Other).self]
    for type in types { precondition(!(type is any Named.Type)) }
    var bad = 0
    for _ in 0..<12 {
      let result = runChild({ _ in forkAmidFirstCasts() }, nil)
      if result.signal != 0 { bad += 1 }
      bad += Int(result.status)
    }
    print("bad children:", bad)
  }
}

// CHECK: bad children: 0
