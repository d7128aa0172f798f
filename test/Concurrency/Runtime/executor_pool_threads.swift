// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/executor-pool-support.c -o %t/support.o
// RUN: %target-build-swift -O -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %import-libdispatch -import-objc-header %S/Inputs/executor-pool-support.h %s %S/Inputs/ExecutorPoolSupport.swift %t/support.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env %env-SWIFT_POOL=0 %target-run %t/a.out signals mask stack errno
// RUN: env %env-SWIFT_POOL=1 %target-run %t/a.out
// RUN: env %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1 %target-run %t/a.out
// RUN: ulimit -s 65536 && env %env-SWIFT_POOL=1 %target-run %t/a.out stack "stand-in stack"

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu
// A sanitizer changes stacks, and how threads end.
// UNSUPPORTED: asan, tsan
// Without stand-ins the jobs that hold more threads than there are processors block for ever.
// UNSUPPORTED: without_executor-rescue

// What programs see of the executor's threads: which signals they take, how large their
// stacks are, how many there are, and what happens when threads with destructors end.

import Dispatch
import Glibc
import Synchronization

/// Jobs that hold `count` threads of the executor at the same time, and do `body` there.
func onThreads(_ count: Int, _ body: @escaping @Sendable () -> Void) {
  let begun = Counter()
  let ended = DispatchSemaphore(value: 0)
  for _ in 0..<count {
    Task.detached {
      begun.add()
      body()
      while begun.count < count { usleep(200) }
      ended.signal()
    }
  }
  for _ in 0..<count { ended.wait() }
}

let signals = [
  SIGUSR1, SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGWINCH, SIGPIPE, __libc_current_sigrtmin() + 1,
]
nonisolated(unsafe) var handledBy = [Int32](repeating: 0, count: 1000)
nonisolated(unsafe) var handled: Int32 = 0

/// Recursion that uses so many bytes of the stack.
@inline(never) func useStack(_ bytes: Int, _ depth: Int = 0) -> Int {
  withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { block in
    memset(block.baseAddress!, Int32(depth & 0xff), 16 << 10)
    if bytes <= 17 << 10 { return Int(block[100]) }
    return useStack(bytes - (17 << 10), depth + 1) + Int(block[16_000])
  }
}

/// What a thread must at least have: that which pthread_create gives.
func defaultStack() -> UInt64 {
  let size = Mutex<UInt64>(0)
  pthread_join(startThread { size.withLock { $0 = stackSize() } }, nil)
  return size.withLock { $0 }
}

let destructed = Counter()
let ranAfterDestructor = Counter()

/// A key whose destructor enqueues a task.
let key: pthread_key_t = {
  var key = pthread_key_t()
  pthread_key_create(&key) { _ in
    destructed.add()
    Task.detached { ranAfterDestructor.add() }
    Task.detached(priority: .background) { ranAfterDestructor.add() }
  }
  return key
}()

func checkMask(_ name: String) {
  for signal in [SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD, SIGALRM, SIGIO, SIGABRT] {
    expect(blocksSignal(signal) == 1, "a \(name) does not block signal \(signal)")
  }
  for signal in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGPROF, SIGPIPE] {
    expect(blocksSignal(signal) == 0, "a \(name) blocks signal \(signal)")
  }
}

@main struct Main {
  static func main() {
    Row.run([
      // The handler of a signal to the process runs on a thread of the program, never on
      // one of the executor's.
      Row(name: "signals") {
        let own = Mutex<Set<Int32>>([])
        onThreads(processors) { _ = own.withLock { $0.insert(threadNumber()) } }
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in
          if handled < 1000 { handledBy[Int(handled)] = threadNumber() }
          handled += 1
        }
        for signal in signals {
          sigaction(signal, &action, nil)
        }
        let stop = Flag()
        for _ in 0..<processors {
          Task.detached { while !stop.isSet { await Task.yield() } }
        }
        for number in 0..<300 {
          kill(getpid(), signals[number % signals.count])
          usleep(100)
        }
        stop.set()
        let main = threadNumber()
        let others = Set(handledBy.prefix(Int(handled))).subtracting([main])
        expect(handled == 300, "\(handled) of 300 signals were handled")
        expect(others.isEmpty, "signals went to threads \(others), of which "
               + "\(others.intersection(own.withLock { $0 }).count) are the executor's")
      },
      // The mask is that of Dispatch's threads: faults and profilers reach it, others do not.
      Row(name: "mask") {
        onThreads(processors) { checkMask("thread") }
      },
      Row(name: "stand-in mask") { onThreads(3 * processors) { checkMask("stand-in") } },
      Row(name: "stack") {
        let least = defaultStack()
        onThreads(processors) {
          expect(stackSize() >= least, "a stack has \(stackSize()) bytes, not \(least)")
          _ = useStack(Int(least) - (256 << 10))
        }
      },
      Row(name: "stand-in stack") {
        let least = defaultStack()
        onThreads(3 * processors) {
          expect(stackSize() >= least, "a stack has \(stackSize()) bytes, not \(least)")
          _ = useStack(Int(least) - (256 << 10))
        }
      },
      // Threads of the program that end, and whose destructors enqueue: also those that the
      // executor has made for blocked jobs, when they end.
      Row(name: "thread exit") {
        _ = key
        inThreads(50) { _ in pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1)) }
        expect(destructed.count == 50, "\(destructed.count) of 50 destructors ran")
        for _ in 0..<5 {
          onThreads(4 * processors) { pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1)) }
        }
        wait(for: "the end of the executor's threads") { destructed.count > 50 }
        let count = destructed.count
        wait(for: "tasks that destructors enqueued") { ranAfterDestructor.count >= 2 * count }
        print("\(count) destructors, \(ranAfterDestructor.count) tasks")
        judge("after threads have ended", waits(nil, 50), median: 50, worst: 5000)
        wait(for: "tasks of all destructors") { ranAfterDestructor.count == 2 * destructed.count }
      },
      // The program pins its first thread, which is this one. That is not for the executor's threads.
      Row(name: "affinity") {
        onThreads(processors + 1) {}
        useProcessors(1)
        let seen = Mutex<[Int]>([])
        onThreads(5 * processors) { seen.withLock { $0.append(Int(processorCount())) } }
        useProcessors(Int32(processors))
        expect(Int(processorCount()) == processors, "this thread has not got its processors back")
        seen.withLock { expect($0.allSatisfy { $0 == processors }, "threads have \($0) processors") }
      },
      // A program that asks for errno after it has enqueued finds its own.
      Row(name: "errno") {
        for _ in 0..<2000 {
          errno = EDOM
          Task.detached {}
          let found = errno
          expect(found == EDOM, "errno is \(found) after a task was made")
        }
      },
      // One thread for each processor, no matter how many tasks there are, and these stay.
      Row(name: "count") {
        let before = Int(threadCount())
        let ran = Counter()
        for number in 0..<20_000 {
          Task.detached(priority: [.high, .medium, .background][number % 3]) {
            compute(2000)
            ran.add()
          }
        }
        wait(for: "20,000 tasks") { ran.count == 20_000 }
        // One more may look after the others. On a busy machine some may have stood in for
        // those that wait for a lock; these end soon.
        for _ in 0..<100 where Int(threadCount()) - before > width + 1 { usleep(100_000) }
        let made = Int(threadCount()) - before
        expect(made <= width + 1, "\(made) threads for a width of \(width)")
      },
      // All of them at once do what only so many threads can do.
      Row(name: "width") {
        let inside = Counter()
        let most = Mutex(0)
        let ended = Counter()
        for _ in 0..<200 {
          Task.detached {
            let now = inside.add()
            most.withLock { $0 = max($0, now) }
            compute(1_000_000)
            inside.add(-1)
            ended.add()
          }
        }
        wait(for: "200 jobs") { ended.count == 200 }
        let found = most.withLock { $0 }
        // On a busy machine not all of them may get a processor at once. And a job waits for
        // malloc's lock there while the thread that has it gets none: others stand in.
        expectMostly(found <= width && (found >= width || width > processors),
                     "\(found) jobs at once for a width of \(width)")
      },
      // Urgent jobs get threads at once while others compute. These are not needed any more
      // when the others have ended: the rest runs on the width.
      Row(name: "width of a class") {
        let begun = Counter(), others = Counter(), inside = Counter(), ended = Counter()
        let tooMany = Counter(), judged = Counter()
        for _ in 0..<width {
          Task.detached {
            begun.add()
            others.add()
            compute(20_000_000)
            others.add(-1)
          }
        }
        wait(for: "jobs that compute") { begun.count == width }
        let count = 200 * width
        for _ in 0..<count {
          Task.detached(priority: .high) {
            let now = inside.add()
            if others.count == 0 {
              judged.add()
              if now > width { tooMany.add() }
            }
            compute(500_000)
            inside.add(-1)
            ended.add()
          }
        }
        wait(for: "\(count) urgent jobs") { ended.count == count }
        print("\(tooMany.count) of \(judged.count) jobs were beside as many as the width")
        expectMostly(tooMany.count * 4 < judged.count,
                     "\(tooMany.count) of \(judged.count) urgent jobs were too many for a width of \(width)")
      },
    ])
  }
}
