// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -shared -fPIC %S/Inputs/liveness-slow-plugin.c -o %t/slow-plugin.so
// RUN: %target-clang -x c -shared -fPIC -I %S/../../../liveness/include %S/Inputs/liveness-callback-plugin.c -o %t/callback-plugin.so
// RUN: %target-clang -x c -c -fPIC -O1 -fno-builtin -I %S/../../../liveness/include %S/Inputs/liveness-waits.c -o %t/waits.o
// RUN: %target-build-swift %import-libdispatch -parse-as-library %s %t/waits.o -o %t/a.out
// RUN: %target-codesign %t/a.out

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// It depends on times, and other tests may take the processors.
// ALLOW_RETRIES: 2

// The monitor waits for nothing of the program. A case that fails reports nothing, or hangs.
// It may be tried again, so it cannot be expected to fail: lit does not count a pass at a later try.
// UNSUPPORTED: without_executor-liveness-marks
// The program's allocator is its own.
// UNSUPPORTED: asan, tsan

import Dispatch
import Glibc

@_silgen_name("forkAndWait") func forkAndWait() -> Int32
@_silgen_name("fillStderr") func fillStderr()
@_silgen_name("drainStderr") func drainStderr(_ ms: Int32)
@_silgen_name("lockAroundQuestions") func lockAroundQuestions()
@_silgen_name("setForkingCallback") func setForkingCallback()
@_silgen_name("setCallbackThatReturnsInChild") func setCallbackThatReturnsInChild()
@_silgen_name("abortAfterCallback") func abortAfterCallback()
@_silgen_name("allowThreads") func allowThreads()
@_silgen_name("useBoundedExecutor") func useBoundedExecutor()
@_silgen_name("forbidReading") func forbidReading()
@_silgen_name("holdHeap") func holdHeap(_ us: UInt32)

@inline(never) func sleep(ms: UInt32) { usleep(ms * 1000) }

@inline(never) func sleepWithName(ms: UInt32) async { sleep(ms: ms) }

func later(ms: Int, _ body: @escaping @Sendable () -> Void) {
  let thread = DispatchQueue(label: "later")
  thread.asyncAfter(deadline: .now() + .milliseconds(ms), execute: body)
}

@main struct Main {
  static func main() async {
    setvbuf(stdout, nil, _IOLBF, 0)
    let folder = CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false)
      .dropLast().joined(separator: "/")
    switch CommandLine.arguments[1] {

    // RUN: env %env-SWIFT_LIVENESS_TIMEOUT=200 %target-run %t/a.out dlopen 2>&1 | %FileCheck --check-prefix=DLOPEN %s
    // Both while the library loads, on a busy machine, too; and later ones with a number or a name.
    // DLOPEN-DAG: task {{[0-9]+}} "loader", blocked, stuck for {{[2-9]}}{{[0-9][0-9]}} ms
    // DLOPEN-DAG: task {{[0-9]+}} "other", blocked, stuck for {{[2-9]}}{{[0-9][0-9]}} ms
    // DLOPEN: done
    case "dlopen":
      await Task {}.value
      let loader = Task.detached(name: "loader") {
        precondition(dlopen(folder + "/slow-plugin.so", RTLD_NOW) != nil)
      }
      let other = Task.detached(name: "other") { sleep(ms: 1000) }
      await loader.value
      await other.value

    // RUN: env %env-SWIFT_LIVENESS_TIMEOUT=50 %target-run %t/a.out pipe > %t/pipe
    // RUN: %FileCheck --check-prefix=PIPE %s < %t/pipe
    // PIPE: fork in time
    // PIPE: reports could not be written
    // PIPE: done
    case "pipe":
      fillStderr()
      // More reports than there is room for.
      for _ in 0..<8 {
        await Task.detached(name: "stuck") { sleep(ms: 150) }.value
        try? await Task.sleep(nanoseconds: 50_000_000)
      }
      print("fork in", forkAndWait() < 100 ? "time" : "\(forkAndWait()) ms")
      drainStderr(1000)

    // RUN: env %env-SWIFT_LIVENESS_TIMEOUT=100 %target-run %t/a.out lock 2>/dev/null | %FileCheck --check-prefix=LOCK %s
    // LOCK: answers after no time, 1 stuck, running 1
    // LOCK: called yes
    // LOCK: done
    case "lock":
      await Task.detached { lockAroundQuestions() }.value

    // RUN: env %env-SWIFT_LIVENESS_TIMEOUT=100 %target-run %t/a.out fork-in-callback 2>/dev/null | %FileCheck --check-prefix=FORK %s
    // FORK: forked in time
    // FORK: done
    case "fork-in-callback":
      setForkingCallback()
      await Task.detached { sleep(ms: 600) }.value

    // RUN: env %env-SWIFT_LIVENESS_TIMEOUT=100 %target-run %t/a.out child-of-callback 2>/dev/null | %FileCheck --check-prefix=CHILD %s
    // A child in which the callback returns has nothing more to do.
    // CHILD-NOT: called in the child
    // CHILD: the child ended
    // CHILD: done
    case "child-of-callback":
      setCallbackThatReturnsInChild()
      await Task.detached { sleep(ms: 600) }.value

    // RUN: not --crash %target-run %t/a.out call-before-abort > %t/abort
    // RUN: %FileCheck --check-prefix=ABORT %s < %t/abort
    // ABORT: called before the end
    // ABORT-NOT: done
    case "call-before-abort":
      abortAfterCallback()
      await Task.detached { sleep(ms: 3000) }.value

    // RUN: env %env-SWIFT_LIVENESS_TIMEOUT=100 %target-run %t/a.out no-threads 2>&1 | %FileCheck --check-prefix=NOTHREADS %s
    // NOTHREADS: Warning: no thread for the liveness monitor
    // NOTHREADS: done
    case "no-threads":
      allowThreads()

    // RUN: env %env-SWIFT_LIVENESS_TIMEOUT=20 %target-run %t/a.out forks 2>/dev/null | %FileCheck --check-prefix=FORKS %s
    // FORKS: slowest fork in time
    // FORKS: done
    case "forks":
      await Task.detached {
        print("slowest fork in", (0..<1000).map { _ in forkAndWait() }.max()! < 200 ? "time" : "too long")
      }.value

    // RUN: env %env-SWIFT_LIVENESS_TIMEOUT=200 %target-run %t/a.out bounded 2>&1 | %FileCheck --check-prefix=BOUNDED %s
    // BOUNDED: task {{[0-9]+}} "stuck", blocked, stuck for 2{{[0-9][0-9]}} ms
    // BOUNDED: the whole pool is stalled
    // BOUNDED: done
    case "bounded":
      useBoundedExecutor()
      await Task.detached {}.value
      let stuck = Task.detached(name: "stuck") { sleep(ms: 1500) }
      let waiting = Task.detached(name: "waiting") {}
      await stuck.value
      await waiting.value

    // RUN: env %env-SWIFT_POOL=0 %env-SWIFT_LIVENESS_TIMEOUT=400 %target-run %t/a.out blocks 2>&1 | %FileCheck --check-prefix=BLOCKS %s
    // No Swift job is stuck.
    // BLOCKS-NOT: stuck for
    // BLOCKS: the whole pool is stalled: no thread took a job that was queued 4{{[0-9][0-9]}} ms ago
    // BLOCKS: live tasks
    // BLOCKS: "waiting", enqueued on the pool
    // BLOCKS: the pool takes jobs again after
    // BLOCKS: done
    case "blocks":
      await Task.detached {}.value
      for _ in 0..<sysconf(Int32(_SC_NPROCESSORS_ONLN)) + 1 {
        DispatchQueue.global().async { sleep(ms: 1200) }
      }
      await Task.detached(name: "waiting") {}.value
      try? await Task.sleep(nanoseconds: 800_000_000)

    // RUN: env %env-SWIFT_LIVENESS_TIMEOUT=200 %env-SWIFT_LIVENESS_ACTION=backtrace %target-run %t/a.out no-ptrace 2>&1 | %FileCheck --check-prefix=NOPTRACE %s
    // A filter ends the process if it reads the memory of processes, as containers may.
    // NOPTRACE-NOT: no seccomp
    // NOPTRACE: task {{[0-9]+}} "read by a file", blocked, stuck for
    // NOPTRACE-NEXT: in closure #{{[0-9]+}} in static Main.main()
    // NOPTRACE-NEXT: waits in clock_nanosleep, called by sleep(ms:)
    // NOPTRACE-NEXT: stack:
    // NOPTRACE: task {{[0-9]+}} "runs", {{running|starved of processor time}}, stuck for
    // NOPTRACE: no stack: the thread runs, and a seccomp filter may forbid perf_event_open
    // NOPTRACE: done
    case "no-ptrace":
      forbidReading()
      await Task.detached(name: "read by a file") { await sleepWithName(ms: 500) }.value
      await Task.detached(name: "runs") {
        let end = DispatchTime.now() + .milliseconds(500)
        while DispatchTime.now() < end {}
      }.value

    // RUN: env %env-SWIFT_LIVENESS_TIMEOUT=200 %target-run %t/a.out heap 2>&1 | %FileCheck --check-prefix=HEAP %s
    // HEAP: task {{[0-9]+}} "holds the heap", blocked, stuck for 2{{[0-9][0-9]}} ms
    // HEAP: stuck for 4
    // HEAP: done
    case "heap":
      await Task {}.value
      await Task.detached(name: "holds the heap") { holdHeap(1_200_000) }.value

    // RUN: env %env-SWIFT_LIVENESS_TIMEOUT=50 %target-run %t/a.out dlclose 2>/dev/null | %FileCheck --check-prefix=DLCLOSE %s
    // DLCLOSE: called yes
    // DLCLOSE: done
    case "dlclose":
      let calls = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
      calls.pointee = 0
      await Task.detached {
        let plugin = dlopen(folder + "/callback-plugin.so", RTLD_NOW)!
        let begin = unsafeBitCast(dlsym(plugin, "begin")!,
          to: (@convention(c) (UnsafeMutablePointer<Int32>) -> Void).self)
        begin(calls)
        dlclose(plugin)
        sleep(ms: 800)
      }.value
      print("called", calls.pointee > 0 ? "yes" : "no")

    // RUN: env %env-SWIFT_LIVENESS_TIMEOUT=300 %target-run %t/a.out stop 2>&1 | %FileCheck --check-prefix=STOP %s
    // Time in which the process is stopped does not count.
    // STOP-NOT: liveness
    // STOP: done
    case "stop":
      await Task.detached {
        let fork = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)
        let parent = getpid(), child = fork()
        if child == 0 {
          usleep(50_000)
          kill(parent, SIGSTOP)
          usleep(1_000_000)
          kill(parent, SIGCONT)
          _exit(0)
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {}
      }.value

    default: fatalError()
    }
    print("done")
    fflush(stdout)
  }
}
