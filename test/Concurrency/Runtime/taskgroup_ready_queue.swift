// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -O2 -fPIC -c %S/Inputs/counting-malloc.c -o %t/counting-malloc.o
// RUN: %target-build-swift -O -parse-as-library -import-objc-header %S/Inputs/counting-malloc.h %s %t/counting-malloc.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: use_os_stdlib
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// REQUIRES: OS=linux-gnu
// A sanitizer counts in another way.
// UNSUPPORTED: asan, tsan

// XFAIL: without_taskgroup-ready-queue

// The children that have ended wait in their group for next(). The queue takes no memory of
// its own, neither for a group nor for a child, and keeps the order in which they have ended.

struct Failure: Error { var number: Int }

/// Children of the main actor end one after the other, in the order in which they were added,
/// while their parent, which is there, too, does not look.
@MainActor func runInOrder(_ count: Int) async {
  nonisolated(unsafe) var ended = 0
  await withTaskGroup(of: Int.self) { group in
    for number in 0..<count {
      group.addTask { @MainActor in
        ended += 1
        return number
      }
    }
    while ended < count { await Task.yield() }
    // Some are taken before more are added to the queue, then it is emptied.
    for number in 0..<count / 2 {
      let value = await group.next()
      precondition(value == number)
    }
    for number in count..<(count + 10) {
      group.addTask { @MainActor in
        ended += 1
        return number
      }
    }
    while ended < count + 10 { await Task.yield() }
    for number in (count / 2)..<(count + 10) {
      let value = await group.next()
      precondition(value == number)
    }
    let last = await group.next()
    precondition(last == nil)
    group.addTask { -1 }
    let again = await group.next()
    precondition(again == -1)
  }
}

/// Failures are in the same queue, and next() throws them where they are.
@MainActor func runFailures() async {
  nonisolated(unsafe) var ended = 0
  await withThrowingTaskGroup(of: Int.self) { group in
    for number in 0..<20 {
      group.addTask { @MainActor in
        ended += 1
        if number % 3 == 0 { throw Failure(number: number) }
        return number
      }
    }
    while ended < 20 { await Task.yield() }
    for number in 0..<20 {
      do {
        let value = try await group.next()
        precondition(value == number && number % 3 != 0)
      } catch {
        precondition((error as! Failure).number == number && number % 3 == 0)
      }
    }
  }
}

/// A discarding group keeps the first failure of its children only.
@MainActor func runDiscarding() async {
  nonisolated(unsafe) var ended = 0
  do {
    try await withThrowingDiscardingTaskGroup { group in
      for number in 0..<20 {
        group.addTask { @MainActor in
          ended += 1
          if number >= 5 { throw Failure(number: number) }
        }
      }
      while ended < 20 { await Task.yield() }
    }
    preconditionFailure()
  } catch {
    precondition((error as! Failure).number == 5)
  }
  precondition(ended == 20)
}

@main struct Main {
  // Allocations are counted for each thread: all is on the first one.
  @MainActor static func main() async {
    func runEmpty() async {
      for _ in 0..<1000 { await withTaskGroup(of: Int.self) { _ in } }
    }
    await runEmpty()
    startCounting()
    await runEmpty()
    let taken = stopCounting()
    // CHECK: a group takes nothing
    print(taken < 100 ? "a group takes nothing" : "1,000 groups take \(taken) allocations")

    // Each child takes the same, so what is left over is the queue's.
    await runInOrder(1000)
    startCounting()
    await runInOrder(10)
    let few = stopCounting()
    startCounting()
    await runInOrder(1000)
    let many = stopCounting()
    // CHECK-NEXT: nor does a child that waits
    print((many - few) % 990 < 5 ? "nor does a child that waits" : "10 children take \(few) allocations, 1,000 \(many)")

    for count in [0, 1, 2, 3, 1000] { await runInOrder(count) }
    await runFailures()
    await runDiscarding()
    // CHECK: done
    print("done")
  }
}
