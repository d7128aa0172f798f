// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/async-let-step.c -o %t/step.o
// RUN: %target-build-swift -O -parse-as-library -Xfrontend -disable-availability-checking -import-objc-header %S/Inputs/async-let-step.h %s %t/step.o -o %t/main
// RUN: %target-codesign %t/main
// RUN: %target-run %t/main

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// It uses the trap flag of the processor.
// REQUIRES: OS=linux-gnu
// REQUIRES: CPU=x86_64
// ThreadSanitizer puts the signals off.
// UNSUPPORTED: tsan
// XFAIL: without_async-let-completion

// The child task of an `async let` is in the frame of its parent, which may go as soon as
// the parent has seen the result. So nothing may look at the child after the result is
// published. Here the child stops right behind that, until other data is where it was.

@inline(never) func child() -> Int {
  stepFromHere()
  return 1
}

@inline(never) func parent() async -> Int {
  startOver()
  async let one = child()
  while !hasStopped() { await Task.yield() }
  return await one
}

/// Writes ones to where the frame of `parent` was.
@inline(never) func overwrite() async -> Int {
  typealias Many = (SIMD64<UInt8>, SIMD64<UInt8>, SIMD64<UInt8>, SIMD64<UInt8>)
  let none = SIMD64<UInt8>(repeating: 0)
  let few: Many = (none, none, none, none)
  var all = (few, few)
  withUnsafeMutableBytes(of: &all) { fillWithOnes($0.baseAddress!, $0.count) }
  await letChildGoOn()
  return withUnsafeBytes(of: &all) { Int($0.min()!) }
}

@inline(never) func letChildGoOn() async {
  goOn()
  while !hasGoneOn() { await Task.yield() }
  try? await Task.sleep(for: .milliseconds(2))
}

@main struct Main {
  static func main() async {
    handleSteps()
    for _ in 0..<10 {
      let sum = await Task.detached { await parent() + overwrite() }.value
      precondition(sum == 256)
      // The memory of a task that has ended is freed, which AddressSanitizer sees.
      let one = await Task.detached { await parent() }.value
      precondition(one == 1)
      try? await Task.sleep(for: .milliseconds(2))
      await letChildGoOn()
    }
  }
}
