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

// A process forks while its threads cast and look up generic types that are known
// already. The child does the same, with threads of its own: nobody waits for a thread
// that stayed in the parent, and the places where that thread was reading do no harm.

import Glibc

protocol Named { func number() -> Int }
class Base {}
final class First: Base, Named { func number() -> Int { 1 } }
struct Second: Named { func number() -> Int { 2 } }
struct Nameless {}
struct Pair<T, U> {}

@inline(never) func cast(_ value: Any) -> Int { (value as? any Named)?.number() ?? 0 }
@inline(never) func castBase(_ value: Base) -> Int { (value as? any Named)?.number() ?? 0 }
@inline(never) @_optimize(none)
func pair<T>(_: T.Type) -> Any.Type { Pair<T, Bool>.self }

func work(_ count: Int) {
  let first = First()
  for _ in 0..<count {
    precondition(cast(first) == 1 && castBase(first) == 1)
    precondition(cast(Second()) == 2)
    precondition(cast(Nameless()) == 0)
    precondition(pair(Int.self) != pair(Double.self))
  }
}

func start(_ body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?)
  -> pthread_t {
  var thread = pthread_t()
  precondition(pthread_create(&thread, nil, body, nil) == 0)
  return thread
}

@main struct Main {
  static func main() {
    work(1)
    // These end with the process.
    for _ in 0..<4 {
      _ = start { _ in
        while true { work(1000) }
      }
    }
    var bad = 0
    for _ in 0..<50 {
      usleep(1000)
      let result = runChild({ _ in
        alarm(10)
        let threads = (0..<80).map { _ in
          start { _ in
            work(20)
            return nil
          }
        }
        work(100)
        for thread in threads { pthread_join(thread, nil) }
        return 0
      }, nil)
      if result.status != 0 || result.signal != 0 { bad += 1 }
    }
    print("bad children:", bad)
  }
}

// CHECK: bad children: 0
