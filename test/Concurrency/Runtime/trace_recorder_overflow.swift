// RUN: %empty-directory(%t)
// RUN: %target-build-swift %import-libdispatch -parse-as-library %s %S/Inputs/TraceCounters.swift -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_TRACE=1 %env-SWIFT_TRACE_SIZE=1 %target-run %t/a.out 64 %t/small
// RUN: %{python} %S/Inputs/dump_trace.py %t/small = | %FileCheck --check-prefix=SMALL %s
// SMALL: reason=1 signal=0 complete=1 overwritten={{[1-9][0-9]*}} lost=0 events={{[0-9][0-9][0-9][0-9][0-9]}}

// More threads than chunks: what is lost is counted.
// RUN: env %env-SWIFT_TRACE=1 %env-SWIFT_TRACE_SIZE=1 %target-run %t/a.out 400 %t/crowd > %t/log
// RUN: %FileCheck --check-prefix=CROWD %s < %t/log
// RUN: %{python} %S/Inputs/dump_trace.py %t/crowd = | %FileCheck --check-prefix=LOST %s
// CROWD: created 4001 live 1

// Threads that have ended leave the memory to others. Stand-ins of the pool end after a second.
// RUN: env %env-SWIFT_TRACE=1 %env-SWIFT_TRACE_SIZE=1 %target-run %t/a.out 400 %t/after 40000
// RUN: %{python} %S/Inputs/dump_trace.py %t/after = | %FileCheck --check-prefix=AFTER %s
// AFTER: events={{[4-9][0-9][0-9][0-9][0-9]}} threads=
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_TRACE=1 %env-SWIFT_TRACE_SIZE=1 %target-run %t/a.out stand-ins %t/after
// RUN: %{python} %S/Inputs/dump_trace.py %t/after = | %FileCheck --check-prefix=AFTER %s
// LOST: lost={{[1-9][0-9]*}} events=

// 8 MB hold 400,000 events.
// RUN: env %env-SWIFT_TRACE=1 %target-run %t/a.out 4 %t/default
// RUN: %{python} %S/Inputs/dump_trace.py %t/default = | %FileCheck --check-prefix=DEFAULT %s
// DEFAULT: reason=1 signal=0 complete=1 overwritten={{[1-9][0-9]*}} lost=0 events={{[4-9][0-9][0-9][0-9][0-9][0-9]}} threads={{.*}} modules={{[1-9]}} counters=1

// Threads that come and go take each other's rings.
// RUN: env %env-SWIFT_TRACE=%t/short %target-run %t/a.out 0 %t/none
// RUN: %{python} %S/Inputs/dump_trace.py %t/short = | %FileCheck --check-prefix=SHORT %s
// SHORT: lost=0 {{.*}} threads={{[2-9][0-9][0-9]}}
// RUN: %{python} -c "import os, sys; assert os.path.getsize(sys.argv[1]) < 4 << 20" %t/short

// On a file system that takes no blocks in advance, too, no event is lost or written over.
// RUN: %target-clang -x c -c %S/Inputs/no-fallocate.c -o %t/no-fallocate.o
// RUN: %target-build-swift %import-libdispatch -parse-as-library %s %S/Inputs/TraceCounters.swift %t/no-fallocate.o -Xlinker --export-dynamic -o %t/written.out
// RUN: %target-codesign %t/written.out
// RUN: env %env-SWIFT_TRACE=%t/written %target-run %t/written.out 64 %t/none
// RUN: %{python} %S/Inputs/dump_trace.py %t/written > %t/log
// RUN: grep -c ' create ' %t/log > %t/created && grep 128001 %t/created
// RUN: grep -c ' destroy ' %t/log > %t/destroyed && grep 128000 %t/destroyed

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// XFAIL: without_tracing-recorder

// More threads than a small memory has room for, and files that are written while
// they record: each is whole.

import Dispatch
import Glibc

let dump = unsafeBitCast(
  dlsym(library, "swift_trace_dump")!, to: (@convention(c) (UnsafePointer<CChar>) -> Int64).self)

/// Creates and ends tasks on this thread, and cancels them.
func work(_ count: Int) {
  for _ in 0..<count {
    let task = Task.detached(priority: .background) {}
    task.cancel()
  }
}

func startThread(_ body: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?) -> pthread_t {
  var thread = pthread_t()
  pthread_create(&thread, nil, body, nil)
  return thread
}

/// All of them live at once.
func crowd(_ count: Int) {
  let threads = (0..<count).map { _ in
    startThread { _ in
      work(10)
      pthread_barrier_wait(&barrier)
      return nil
    }
  }
  for thread in threads { pthread_join(thread, nil) }
}

nonisolated(unsafe) var barrier = pthread_barrier_t()

@main struct Main {
  static func main() async {
    if CommandLine.arguments[1] == "stand-ins" {
      await withTaskGroup(of: Void.self) { group in for _ in 0..<200 { group.addTask { usleep(300_000) } } }
      try? await Task.sleep(nanoseconds: 3_000_000_000)
      for _ in 0..<40_000 { await Task.detached {}.value }
      precondition(dump(CommandLine.arguments[2]) > 0)
      return
    }
    let count = Int(CommandLine.arguments[1])!
    if count == 400 {
      pthread_barrier_init(&barrier, nil, UInt32(count))
      crowd(count)
      let counters = waitForTasks()
      print("created", counters[2], "live", counters[2] - counters[3])
      if CommandLine.arguments.count > 3 { work(Int(CommandLine.arguments[3])!) }
      precondition(dump(CommandLine.arguments[2]) > 0)
      return
    }
    if count == 0 {
      for _ in 0..<300 { pthread_join(startThread { _ in work(1); return nil }, nil) }
      return
    }
    let threads = (0..<count).map { _ in
      count == 64 ? startThread { _ in work(2_000); return nil } : startThread { _ in work(60_000); return nil }
    }
    for _ in 0..<5 { precondition(dump(CommandLine.arguments[2]) > 0) }
    for thread in threads { pthread_join(thread, nil) }
    precondition(dump(CommandLine.arguments[2]) > 0)
    waitForTasks()
  }
}
