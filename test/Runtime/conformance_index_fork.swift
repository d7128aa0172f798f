// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/../Concurrency/Runtime/Inputs/child-process.c -o %t/child-process.o
// RUN: %target-clang -x c -c %S/Inputs/held-malloc.c -o %t/held-malloc.o
// RUN: cat %S/../Concurrency/Runtime/Inputs/child-process.h %S/Inputs/held-malloc.h > %t/all.h
// RUN: %target-build-swift -O -parse-as-library -import-objc-header %t/all.h %s %t/child-process.o %t/held-malloc.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// UNSUPPORTED: use_os_stdlib
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// REQUIRES: OS=linux-gnu
// A sanitizer's own locks are not ready for threads in a child, and the program has a malloc of its own.
// UNSUPPORTED: asan, tsan

// A process forks while threads ask for conformances for the first time, at a different
// moment in each round: before, while and after the indexes are made. The child must get
// the same answers, and must not wait for a thread that stayed in the parent. Before all that,
// one forks while another thread, which makes an index, waits for memory.

import Glibc

protocol P0 {}
protocol P1 {}
class Base {}
class Derived: Base, P0 {}
final class Last: Derived {}
struct Leaf<T>: P1 {}
enum Choice: P0 { case a }

/// Only answers that take no other lock than that of the conformances: a child that
/// finds that one held has waited for ever with each runtime. So each asks once.
func ask(_ type: Any.Type, _ answer: Bool) {
  precondition((type is any P0.Type) == answer)
}

func start(_ body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?)
  -> pthread_t {
  var thread = pthread_t()
  precondition(pthread_create(&thread, nil, body, nil) == 0)
  return thread
}

nonisolated(unsafe) var delay: UInt32 = 0

/// The answers in a forked child: 0, 1 if it waits for ever, or 2.
func askInChild() -> Int32 {
  let pid = fork()
  if pid == 0 {
    alarm(5)
    ask(Choice.self, true)
    ask(Derived.self, true)
    ask(String.self, false)
    ask(Last.self, true)
    _exit(0)
  }
  var status: Int32 = 0
  waitpid(pid, &status, 0)
  return status == 0 ? 0 : status & 0x7f == SIGALRM ? 1 : 2
}

@main struct Main {
  static func main() {
    // No thread has asked for anything in these children.
    let held = runChild({ _ in
      let thread = start { _ in
        holdLargeAllocations()
        // The second search of all images makes the indexes.
        ask(Int.self, false)
        ask(Double.self, false)
        reachAllocation()
        return nil
      }
      waitForAllocation()
      let result = askInChild()
      continueAllocations()
      pthread_join(thread, nil)
      return result
    }, nil)
    print("while an index is made:", held.status, held.signal)

    var finished = 0, wrong = 0
    for round in 0..<200 {
      delay = UInt32(round)
      let result = runChild({ _ in
        let threads = [
          start { _ in ask(Last.self, true); return nil },
          start { _ in ask(Int.self, false); return nil },
        ]
        for _ in 0..<delay * 40 { _ = getppid() }
        let result = askInChild()
        for thread in threads { pthread_join(thread, nil) }
        return result
      }, nil)
      if result.status == 0 && result.signal == 0 {
        finished += 1
      } else if result.status != 1 {
        // Only a child that waits for ever is excused, not a wrong answer.
        wrong += 1
      }
    }
    print("wrong:", wrong)
    // The lock of the cache of conformances is held for a moment in each search.
    print(finished >= 150 ? "children finish" : "only \(finished) of 200 finish")
  }
}

// CHECK: while an index is made: 0 0
// CHECK-NEXT: wrong: 0
// CHECK-NEXT: children finish
