// RUN: %empty-directory(%t)
// RUN: %target-build-swift %import-libdispatch -parse-as-library %S/Inputs/TraceCounters.swift %s -o %t/a.out
// RUN: %target-codesign %t/a.out

// A killed process leaves what it has recorded.
// RUN: not --crash env %env-SWIFT_TRACE=%t/killed %target-run %t/a.out kill
// RUN: %{python} %S/Inputs/dump_trace.py %t/killed t- > %t/log
// RUN: %FileCheck --check-prefix=KILLED %s < %t/log
// KILLED: complete=0
// KILLED-DAG: destroy t-before
// KILLED-DAG: create t-{{(é){30} 21 *$}}
// KILLED: run t-last
// KILLED-NOT: end t-last

// And it can be cut anywhere.
// RUN: for size in 100000 70001 65601 4097 4200; do head -c $size %t/killed > %t/cut; %{python} %S/Inputs/dump_trace.py %t/cut > %t/log || exit 1; done

// RUN: not --crash env %env-SWIFT_TRACE=1 %env-SWIFT_TRACE_FOLDER=%t/ %target-run %t/a.out abort > %t/log 2>&1
// RUN: %FileCheck --check-prefix=ABORT %s < %t/log
// ABORT: trace: crash: wrote {{.*}}/swift-{{[0-9]+}}-1.trace
// RUN: %{python} %S/Inputs/dump_trace.py %t/swift-*-1.trace t- | %FileCheck --check-prefix=CRASHED %s
// CRASHED: reason=3 signal=6 complete=1
// CRASHED: run t-last
// RUN: rm %t/swift-*

// RUN: not --crash env %env-SWIFT_TRACE=1 %env-SWIFT_TRACE_FOLDER=%t/ %target-run %t/a.out trap > %t/log 2>&1
// RUN: %{python} %S/Inputs/dump_trace.py %t/swift-*-1.trace t- | %FileCheck --check-prefix=TRAPPED %s
// TRAPPED: reason=3 signal={{[45]}} complete=1
// TRAPPED: run t-last
// RUN: rm %t/swift-*

// Several threads crash at once: none ends the process before the first one has written all. (Sanitizers exit.)
// RUN: %if tsan || runtime_ubsan %{not%} %else %{not --crash%} env %env-SWIFT_TRACE=1 %env-SWIFT_TRACE_FOLDER=%t/ %target-run %t/a.out together > %t/log 2>&1
// RUN: %FileCheck --check-prefix=WROTE %s < %t/log
// WROTE: trace: crash: wrote {{.*}}/swift-{{[0-9]+}}-1.trace
// RUN: %{python} %S/Inputs/dump_trace.py %t/swift-*-1.trace t- | %FileCheck --check-prefix=TOGETHER %s
// TOGETHER: reason=3 signal=11 complete=1
// TOGETHER: run t-last
// RUN: rm %t/swift-*

// A handler that the program had before runs as it asked for. (Sanitizers have functions of their own for that.)
// RUN: %if !tsan && !runtime_ubsan %{ %target-clang -x c %S/Inputs/earlier-handler.c -o %t/earlier -pthread -ldl %}
// RUN: %if !tsan && !runtime_ubsan %{ for how in segv abort trap; do env %env-SWIFT_TRACE=1 %env-SWIFT_TRACE_FOLDER=%t/ %target-run %t/earlier $how || exit 1; done > %t/log 2>&1 %}
// RUN: %if !tsan && !runtime_ubsan %{ %FileCheck --check-prefix=EARLIER %s < %t/log && rm %t/swift-* %}
// EARLIER: trace: crash: wrote
// EARLIER-NEXT: handled segv
// EARLIER: trace: crash: wrote
// EARLIER-NEXT: handled abort
// EARLIER: trace: crash: wrote
// EARLIER-NEXT: handled trap

// RUN: env %env-SWIFT_TRACE=1 %env-SWIFT_TRACE_SIGNAL=USR2 %env-SWIFT_TRACE_FOLDER=%t/ %target-run %t/a.out signal
// RUN: for file in %t/swift-*-*.trace; do %{python} %S/Inputs/dump_trace.py $file = || exit 1; done > %t/log
// RUN: %FileCheck --check-prefix=SIGNAL %s < %t/log
// SIGNAL: reason=2 signal=12 complete=1
// SIGNAL: reason=2 signal=12 complete=1
// RUN: rm %t/swift-*

// On a handler's stack of 8 KB, and nothing below it. (ThreadSanitizer's handlers take more.)
// RUN: %if !tsan %{ env %env-SWIFT_TRACE=1 %env-SWIFT_TRACE_SIGNAL=USR2 %env-SWIFT_TRACE_FOLDER=%t/ %target-run %t/a.out stack > %t/log 2>&1 %}
// RUN: %if !tsan %{ %FileCheck --check-prefix=STACK %s < %t/log && rm %t/swift-* %}
// STACK: trace: signal: wrote {{.*}}/swift-{{[0-9]+}}-1.trace
// STACK: done

// A folder that is gone.
// RUN: mkdir %t/gone
// RUN: env %env-SWIFT_TRACE=1 %env-SWIFT_TRACE_SIGNAL=USR2 %env-SWIFT_TRACE_FOLDER=%t/gone %target-run %t/a.out gone %t/gone > %t/log 2>&1
// RUN: %FileCheck --check-prefix=GONE %s < %t/log
// GONE: error: SWIFT_TRACE: cannot write {{.*}}/gone/swift-{{[0-9]+}}-1.trace: No such file or directory
// GONE-NEXT: hint: SWIFT_TRACE_FOLDER is the folder for traces
// GONE-NEXT: done

// A child of fork has a memory of its own, and nothing of a file; or a file of its own.
// RUN: env %env-SWIFT_TRACE=1 %env-SWIFT_TRACE_SIGNAL=USR2 %env-SWIFT_TRACE_FOLDER=%t/ %target-run %t/a.out fork > %t/log
// RUN: %{python} %S/Inputs/dump_trace.py %t/swift-$(cat %t/log)-1.trace t- > %t/log
// RUN: %FileCheck --check-prefix=CHILD %s < %t/log
// CHILD: reason=2 {{.*}} missing=0
// CHILD-NOT: t-before
// CHILD: create t-child
// RUN: env %env-SWIFT_TRACE=%t/parent %env-SWIFT_TRACE_SIGNAL=USR2 %target-run %t/a.out fork > %t/log 2>&1
// RUN: not grep error %t/log
// RUN: %{python} %S/Inputs/dump_trace.py %t/parent t- > %t/log
// RUN: %FileCheck --check-prefix=PARENT %s < %t/log
// PARENT: complete=1
// PARENT: destroy t-before
// PARENT-NOT: t-child
// RUN: env %env-SWIFT_TRACE=%t/own-%%p %target-run %t/a.out fork > %t/log
// RUN: %{python} %S/Inputs/dump_trace.py %t/own-$(cat %t/log) t- > %t/log
// RUN: %FileCheck --check-prefix=OWN %s < %t/log
// OWN-NOT: t-before
// OWN: create t-child

// What is run by exec begins anew. The trace of the program before it is kept.
// RUN: env %env-SWIFT_TRACE=%t/exec %target-run %t/a.out exec
// RUN: %{python} %S/Inputs/dump_trace.py %t/exec t- > %t/log
// RUN: %FileCheck --check-prefix=EXEC %s < %t/log
// EXEC: complete=1
// EXEC-NOT: t-before
// EXEC: create t-executed
// RUN: %{python} %S/Inputs/dump_trace.py %t/exec.old t- | %FileCheck --check-prefix=EXECS %s
// EXECS: destroy t-before

// And what it writes does not replace what the program before it has written.
// RUN: env %env-SWIFT_TRACE=1 %env-SWIFT_TRACE_SIGNAL=USR2 %env-SWIFT_TRACE_FOLDER=%t/ %target-run %t/a.out exec raise > %t/log
// RUN: %{python} %S/Inputs/dump_trace.py %t/swift-$(cat %t/log)-1.trace t- | %FileCheck --check-prefix=EXECS %s
// RUN: %{python} %S/Inputs/dump_trace.py %t/swift-$(cat %t/log)-2.trace t- | %FileCheck --check-prefix=EXECUTED %s
// EXECUTED: create t-executed
// RUN: rm %t/swift-*

// Daemons close what they have inherited. Then they open files of their own. (Dispatch traps or waits for ever if its
// manager's descriptors are closed, so this needs the pool.)
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_TRACE=%t/closed %target-run %t/a.out close 256 %t/data > %t/log 2>&1
// RUN: %{python} %S/Inputs/dump_trace.py %t/closed t- | %FileCheck --check-prefix=OPEN %s
// OPEN: complete=1 overwritten=0 lost=0
// OPEN: create t-last
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_TRACE=%t/closed %target-run %t/a.out close 5000 %t/data > %t/log 2>&1
// RUN: %FileCheck --check-prefix=CLOSED %s < %t/log
// CLOSED: error: SWIFT_TRACE: the program has closed the file of the trace
// CLOSED-NEXT: hint: events from here on are lost
// CLOSED-NEXT: done
// RUN: %{python} %S/Inputs/dump_trace.py %t/closed t- | %FileCheck --check-prefix=BEFORE %s
// BEFORE: complete=1 overwritten=0 lost={{[1-9][0-9]+}}
// BEFORE: destroy t-before
// BEFORE-NOT: t-last

// A disk that is full. (ThreadSanitizer itself needs a file of 512 KB.)
// RUN: (ulimit -f 600; env %env-SWIFT_TRACE=%t/full %target-run %t/a.out many > %t/log 2>&1)
// RUN: %FileCheck --check-prefix=FULL %s < %t/log
// FULL: error: SWIFT_TRACE: the trace cannot get longer: File too large
// FULL-NEXT: hint:
// FULL: done
// RUN: %{python} %S/Inputs/dump_trace.py %t/full = | %FileCheck --check-prefix=LOST %s
// LOST: lost={{[1-9][0-9]+}} events={{[1-9][0-9]+}}

// The program lowers the limit itself: the file ends, or what is kept is not written, and the program goes on.
// RUN: env %env-SWIFT_TRACE=%t/lowered %target-run %t/a.out limit > %t/log 2>&1
// RUN: %FileCheck --check-prefix=FULL %s < %t/log
// RUN: env %env-SWIFT_TRACE=1 %env-SWIFT_TRACE_SIGNAL=USR2 %env-SWIFT_TRACE_FOLDER=%t/ %target-run %t/a.out limit raise > %t/log 2>&1
// RUN: %FileCheck --check-prefix=LIMIT %s < %t/log
// RUN: rm -f %t/swift-*
// LIMIT: error: SWIFT_TRACE: cannot write {{.*}}/swift-{{[0-9]+}}-1.trace: File too large
// LIMIT: done

// Nobody reads the standard error any more.
// RUN: env %env-SWIFT_TRACE=1 %env-SWIFT_TRACE_SIGNAL=USR2 %env-SWIFT_TRACE_FOLDER=%t/ %target-run %t/a.out pipe > %t/log
// RUN: %FileCheck --check-prefix=PIPE %s < %t/log
// RUN: ls %t/swift-*-1.trace && rm %t/swift-*
// PIPE: done

// RUN: env %env-SWIFT_TRACE=%t/none/file %target-run %t/a.out many > %t/log 2>&1
// RUN: env %env-SWIFT_TRACE=/dev/null %target-run %t/a.out many >> %t/log 2>&1
// RUN: env %env-SWIFT_TRACE=1 %env-SWIFT_TRACE_SIZE=0 %env-SWIFT_TRACE_SIGNAL=KILL %target-run %t/a.out many >> %t/log 2>&1
// RUN: env %env-SWIFT_TRACE=1 %env-SWIFT_TRACE_FOLDER=%t/none %target-run %t/a.out many >> %t/log 2>&1
// RUN: env %env-SWIFT_TRACE=1 %env-SWIFT_TRACE_CLOCK=sundial %env-SWIFT_TRACE_SIGNAL=USR2 %env-SWIFT_LIVENESS_TIMEOUT=5000 %env-SWIFT_LIVENESS_SIGNAL=USR2 %target-run %t/a.out many >> %t/log 2>&1
// RUN: env %env-SWIFT_TRACE=1 %env-SWIFT_TRACE_SIGNAL=USR2 %env-SWIFT_LIVENESS_SIGNAL=USR2 %target-run %t/a.out many >> %t/log 2>&1
// RUN: %FileCheck --check-prefix=BAD %s < %t/log
// BAD: error: SWIFT_TRACE={{.*}}/none/file: No such file or directory
// BAD-NEXT: hint:
// BAD: done
// BAD: error: SWIFT_TRACE=/dev/null: not a regular file
// BAD-NEXT: hint:
// BAD: done
// BAD: error: SWIFT_TRACE_SIZE=0: not a number from 1 to 65536
// BAD-NEXT: hint:
// BAD-NEXT: error: SWIFT_TRACE_SIGNAL=KILL: not a signal for this
// BAD-NEXT: hint:
// BAD: done
// BAD: error: SWIFT_TRACE_FOLDER={{.*}}/none: No such file or directory
// BAD-NEXT: hint:
// BAD: done
// BAD-NEXT: error: SWIFT_TRACE_CLOCK=sundial: not a clock for this
// BAD-NEXT: hint: name monotonic
// BAD-NEXT: error: SWIFT_TRACE_SIGNAL=USR2: SWIFT_LIVENESS_SIGNAL is that, too
// BAD-NEXT: hint:
// BAD-NEXT: done
// BAD-NEXT: done

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// UNSUPPORTED: emulated
// The child of a fork leaks what threads of its parent would have freed.
// UNSUPPORTED: asan
// XFAIL: without_tracing-recorder

// However a process ends, or goes on as another one, its trace can be read.

import Glibc

func find<T>(_ name: String, _: T.Type) -> T { unsafeBitCast(dlsym(nil, name)!, to: T.self) }

func wait(_ process: pid_t) {
  var status: Int32 = 0
  precondition(waitpid(process, &status, 0) == process && status == 0, "\(status)")
}

nonisolated(unsafe) var barrier = pthread_barrier_t()

/// The task in which this runs is in the file, and has not ended.
func end(_ how: String) {
  switch how {
  case "kill": kill(getpid(), SIGKILL)
  case "abort": abort()
  case "trap": fatalError()
  case "together":
    pthread_barrier_init(&barrier, nil, 8)
    for _ in 0..<8 {
      var thread = pthread_t()
      pthread_create(&thread, nil, { _ in
        pthread_barrier_wait(&barrier)
        raise(SIGSEGV)
        return nil
      }, nil)
    }
    sleep(60)
  default: break
  }
}

@main struct Main {
  static func main() async {
    let how = CommandLine.arguments[1]
    let raises = CommandLine.arguments.count > 2
    if how == "executed" {
      await Task.detached(name: "t-executed") {}.value
      if raises { raise(SIGUSR2) }
      return
    }
    if how == "signal" {
      // They come in the middle of this thread's events.
      var thread = pthread_t()
      pthread_create(&thread, nil, { _ in
        for _ in 0..<20 {
          kill(getpid(), SIGUSR2)
          usleep(10_000)
        }
        return nil
      }, nil)
      for _ in 0..<20_000 { Task.detached {} }
      pthread_join(thread, nil)
    }
    await Task.detached(name: "t-before") {}.value
    // Longer than what is kept, which ends between two characters.
    await Task.detached(name: "t-" + String(repeating: "é", count: 40)) {}.value
    // The thread that ended a task releases it after it has resumed the one that waits. Some of the other
    // runs have no recorder.
    if ["kill", "exec", "fork", "close"].contains(how) { waitForTasks() }
    switch how {
    case "signal":
      break
    case "fork":
      var action = sigaction()
      sigaction(SIGUSR2, nil, &action)
      let child = find("fork", (@convention(c) () -> pid_t).self)()
      if child == 0 {
        Task.detached(name: "t-child") {}
        if getenv("SWIFT_TRACE_SIGNAL") != nil {
          // With ThreadSanitizer the signal does not get to the handler in a child.
          if dlsym(nil, "__tsan_init") != nil { action.__sigaction_handler.sa_handler(SIGUSR2) }
          else { raise(SIGUSR2) }
        }
        exit(0)
      }
      wait(child)
      print(child)
    case "exec":
      var arguments = CommandLine.arguments.map { strdup($0) } + [nil]
      arguments[1] = strdup("executed")
      if raises {
        print(getpid())
        fflush(stdout)
        raise(SIGUSR2)
      }
      execv(arguments[0]!, &arguments)
    case "close":
      let most = Int32(CommandLine.arguments[2])!
      for file in 3..<most { close(file) }
      // Dispatch writes to the number of its main queue, and closes it: a low one.
      while case let file = open("/dev/null", O_RDWR), file < 63 {}
      var files: [Int32] = []
      while files.count < most / 4, case let file = open(CommandLine.arguments[3], O_RDWR | O_CREAT, 0o644), file >= 0 {
        files.append(file)
      }
      func check() { precondition(files.allSatisfy { lseek($0, 0, SEEK_END) == 0 }, "something was written, or closed") }
      let child = find("fork", (@convention(c) () -> pid_t).self)()
      if child == 0 {
        check()
        _exit(0)
      }
      wait(child)
      for _ in 0..<20_000 { await Task.detached {}.value }
      await Task.detached(name: "t-last") {}.value
      check()
      print("done")
    case "stack":
      let page = 4096
      let memory = mmap(nil, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
      precondition(mprotect(memory, page, PROT_NONE) == 0)
      var stack = stack_t()
      stack.ss_sp = memory + page
      stack.ss_size = 2 * page
      precondition(sigaltstack(&stack, nil) == 0 && raise(SIGUSR2) == 0)
      print("done")
    case "gone":
      precondition(rmdir(CommandLine.arguments[2]) == 0 && raise(SIGUSR2) == 0)
      print("done")
    case "limit":
      var limit = rlimit(rlim_cur: 512 << 10, rlim_max: 512 << 10)
      for _ in 0..<10_000 { await Task.detached {}.value }
      precondition(setrlimit(__rlimit_resource_t(1 /* RLIMIT_FSIZE */), &limit) == 0)
      for _ in 0..<20_000 { await Task.detached {}.value }
      if raises { raise(SIGUSR2) }
      print("done")
    case "pipe":
      var ends: [Int32] = [0, 0]
      precondition(pipe(&ends) == 0 && dup2(ends[1], 2) == 2)
      for end in ends { close(end) }
      raise(SIGUSR2)
      print("done")
    case "many":
      for _ in 0..<20_000 { await Task.detached {}.value }
      print("done")
    default:
      await Task.detached(name: "t-last") { end(how) }.value
    }
  }
}
