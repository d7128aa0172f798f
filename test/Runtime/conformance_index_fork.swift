// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/../Concurrency/Runtime/Inputs/child-process.c -o %t/child-process.o
// RUN: %target-build-swift -O -parse-as-library -import-objc-header %S/../Concurrency/Runtime/Inputs/child-process.h %s %t/child-process.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// The lock of the cache of conformances is held for a moment in each search, and for longer with chaos's delays.
// RUN: %target-run %t/a.out %if runtime_chaos %{150%} %else %{190%} | %FileCheck %s

// REQUIRES: executable_test
// UNSUPPORTED: use_os_stdlib
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// REQUIRES: OS=linux-gnu
// A sanitizer's own locks are not ready for threads in a child.
// UNSUPPORTED: asan, tsan

// A process forks while threads ask for conformances for the first time, at a different
// moment in each round: before, while and after the indexes are made. The child must get
// the same answers, and must not wait for a thread that stayed in the parent.

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

@main struct Main {
  static func main() {
    var finished = 0, wrong = 0
    for round in 0..<200 {
      delay = UInt32(round)
      // No thread has asked for anything in this child.
      let result = runChild({ _ in
        let threads = [
          start { _ in ask(Last.self, true); return nil },
          start { _ in ask(Int.self, false); return nil },
        ]
        for _ in 0..<delay * 40 { _ = getppid() }
        let pid = fork()
        if pid == 0 {
          alarm(5)
          ask(Choice.self, true)
          ask(Derived.self, true)
          ask(String.self, false)
          ask(Last.self, true)
          _exit(0)
        }
        for thread in threads { pthread_join(thread, nil) }
        var status: Int32 = 0
        waitpid(pid, &status, 0)
        // Only a child that waits for ever is excused, not a wrong answer.
        return status == 0 ? 0 : status & 0x7f == SIGALRM ? 1 : 2
      }, nil)
      if result.status == 0 && result.signal == 0 {
        finished += 1
      } else if result.status != 1 {
        wrong += 1
      }
    }
    print("wrong:", wrong)
    print(finished >= Int(CommandLine.arguments[1])! ? "children finish" : "only \(finished) of 200 finish")
  }
}

// CHECK: wrong: 0
// CHECK-NEXT: children finish
