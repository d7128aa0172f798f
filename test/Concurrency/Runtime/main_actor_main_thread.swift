// RUN: %empty-directory(%t)
// RUN: split-file %s %t
// RUN: %target-build-swift -parse-as-library %t/shared.swift %t/async-main.swift -o %t/async-main
// RUN: %target-build-swift %t/shared.swift %t/main.swift -o %t/top-level
// RUN: %target-codesign %t/async-main
// RUN: %target-codesign %t/top-level
// RUN: %target-run %t/async-main | %FileCheck %t/shared.swift
// RUN: %target-run %t/top-level | %FileCheck %t/shared.swift
// RUN: env %env-SWIFT_POOL=1 %target-run %t/async-main | %FileCheck %t/shared.swift
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// REQUIRES: libdispatch
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: use_os_stdlib
// XFAIL: without_main-actor-main-thread

// The main actor stays on the first thread of the process, which C libraries with a
// loop of their own rely on (swiftlang/swift#90851), and so do blocks of the main queue.

//--- shared.swift
import Dispatch
import Glibc

@_silgen_name("gettid") func currentThread() -> Int32

func expectMainThread(_ place: String) {
  precondition(currentThread() == getpid(), "\(place) is on another thread")
}

func now() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

@MainActor final class Log {
  static var order: [Int] = []
  static var blocks = 0
  nonisolated(unsafe) static var interrupted = 0, elsewhere = 0
}

@MainActor func test() async {
  alarm(60)
  expectMainThread("the beginning")
  await Task.detached {}.value
  expectMainThread("after an await")
  try? await Task.sleep(nanoseconds: 1_000_000)
  expectMainThread("after a sleep")
  await Task.detached { await MainActor.run { expectMainThread("MainActor.run") } }.value
  await withCheckedContinuation { continuation in
    DispatchQueue.main.async {
      expectMainThread("a block")
      dispatchPrecondition(condition: .onQueue(.main))
      MainActor.assumeIsolated { continuation.resume() }
    }
  }
  await withCheckedContinuation { continuation in
    DispatchQueue.global().async {
      DispatchQueue.main.sync { expectMainThread("a block that is waited for") }
      DispatchQueue.main.asyncAfter(deadline: .now() + 0.002) {
        expectMainThread("a later block")
        continuation.resume()
      }
    }
  }
  // CHECK: thread
  print("thread")

  // Jobs and blocks that one thread adds keep their order.
  await Task.detached {
    for number in 0..<1000 {
      if number % 3 == 0 {
        DispatchQueue.main.async { MainActor.assumeIsolated { Log.order.append(number) } }
      } else {
        Task { @MainActor in Log.order.append(number) }
      }
    }
  }.value
  while Log.order.count < 1000 { await Task.yield() }
  precondition(Log.order == Array(0..<1000))
  // CHECK-NEXT: order
  print("order")

  // Signals interrupt the wait for jobs, and are handled on this thread.
  var action = sigaction()
  action.__sigaction_handler.sa_handler = { _ in
    if currentThread() == getpid() { Log.interrupted += 1 } else { Log.elsewhere += 1 }
  }
  precondition(sigaction(SIGUSR1, &action, nil) == 0)
  await Task.detached {
    for _ in 0..<5 {
      usleep(2_000)
      kill(getpid(), SIGUSR1)
    }
    usleep(2_000)
  }.value
  expectMainThread("after signals")
  precondition(Log.interrupted > 0 && Log.elsewhere == 0)
  // And those that Dispatch takes come here, too.
  signal(SIGUSR2, SIG_IGN)
  let source = DispatchSource.makeSignalSource(signal: SIGUSR2, queue: .main)
  await withCheckedContinuation { continuation in
    source.setRegistrationHandler {
      expectMainThread("the registration of a source")
      kill(getpid(), SIGUSR2)
    }
    source.setEventHandler {
      expectMainThread("a source of signals")
      source.cancel()
    }
    source.setCancelHandler { continuation.resume() }
    source.resume()
  }
  // CHECK-NEXT: signals
  print("signals")

  // Other threads wait for blocks while this one waits for them or lingers.
  let threads = (0..<4).map { _ in
    Task.detached {
      for _ in 0..<500 {
        DispatchQueue.main.sync {
          expectMainThread("a block of many")
          MainActor.assumeIsolated { Log.blocks += 1 }
        }
      }
    }
  }
  for thread in threads { await thread.value }
  precondition(Log.blocks == 2000)
  // CHECK-NEXT: blocks
  print("blocks")

  // Who waits takes no processor.
  func cpu() -> Double { Double(clock()) / Double(CLOCKS_PER_SEC) }
  let (start, before) = (now(), cpu())
  try? await Task.sleep(nanoseconds: 200_000_000)
  precondition(now() - start > 0.19 && cpu() - before < 0.1)
  // CHECK-NEXT: idle
  print("idle")
}

//--- async-main.swift
@main struct Main {
  static func main() async { await test() }
}

//--- main.swift
await test()
