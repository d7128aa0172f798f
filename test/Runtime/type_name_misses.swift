// RUN: %empty-directory(%t)
// RUN: %target-build-swift-dylib(%t/%target-library-name(Plugin)) -module-name Plugin %S/Inputs/type_name_misses_plugin.swift
// RUN: %target-clang -x c -c %S/../Concurrency/Runtime/Inputs/child-process.c -o %t/child-process.o
// RUN: %target-build-swift -O -swift-version 6 -import-objc-header %S/../Concurrency/Runtime/Inputs/child-process.h %s %t/child-process.o -module-name Main -o %t/a.out
// RUN: %target-codesign %t/a.out %t/%target-library-name(Plugin)
// RUN: %target-run %t/a.out %t/%target-library-name(Plugin)

// REQUIRES: executable_test
// REQUIRES: shell
// UNSUPPORTED: use_os_stdlib
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// REQUIRES: OS=linux-gnu
// A sanitizer does not support a fork in a process with several threads.
// UNSUPPORTED: tsan

// Names of types that are not there, asked for again and again: by one thread and by many,
// by more names than the runtime keeps, by names that are longer than what it keeps, in
// children of forks, and before and after an image is loaded that has the types.

import Glibc
import StdlibUnittest
import Synchronization

struct Here {}

func find(_ name: String) -> Any.Type? { _typeByName(name) }

/// "6Plugin4Late1V": a struct that no image has, unless it is Late.
func mangled(_ name: String, module: String = "Plugin") -> String {
  "\(module.utf8.count)\(module)\(name.utf8.count)\(name)V"
}

struct Threads {
  private var all: [pthread_t] = []
  mutating func start(_ body: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Box(body)).toOpaque()
    let error = pthread_create(&thread, nil, { argument in
      Unmanaged<Box>.fromOpaque(argument!).takeRetainedValue().body()
      return nil
    }, box)
    precondition(error == 0)
    all.append(thread)
  }
  func join() { for thread in all { pthread_join(thread, nil) } }
}

let stop = Atomic(false)

let tests = TestSuite("TypeNameMisses")

tests.test("names that are not there") {
  for _ in 0..<3 {
    for number in 0..<1000 {
      expectNil(find(mangled("Absent\(number)")))
      expectNil(find(mangled("Absent\(number)", module: "Main")))
    }
    // Of which only the last character differs, and one of which begins like another.
    for length in [1, 7, 8, 9, 15, 16, 17, 100, 159, 160, 161, 168, 169, 170, 1000] {
      let name = String(repeating: "x", count: length)
      expectNil(find(mangled(name)))
      expectNil(find(mangled(name + "y")))
      expectNil(find(mangled(name.dropLast() + "y")))
    }
    expectNil(find(""))
    expectNil(find("not a name"))
    expectNotNil(find(mangled("Here", module: "Main")))
  }
}

tests.test("64 threads, and forks") {
  var threads = Threads()
  for thread in 0..<64 {
    threads.start {
      for number in 0..<300 {
        expectNil(find(mangled("Absent\((number + thread * 5) % 700)")))
        if number % 50 == 0 { expectNotNil(find(mangled("Here", module: "Main"))) }
      }
    }
  }
  var failed = 0
  for _ in 0..<20 {
    let result = runChild({ _ in
      alarm(10)
      for _ in 0..<2 {
        for number in 0..<100 where find(mangled("Absent\(number)")) != nil { _exit(1) }
      }
      // Without a search for leaks: what the parent's threads have is nobody's here.
      _exit(find(mangled("Here", module: "Main")) == nil ? 2 : 0)
    }, nil)
    expectEqual(0, result.status)  // 1 and 2: a wrong answer
    if result.signal != 0 {
      expectEqual(SIGALRM, result.signal)
      failed += 1
    }
  }
  threads.join()
  // A thread that stays in the parent may hold malloc's lock or that of the names that are there.
  expectLE(failed, 2)
}

tests.test("an image that comes later") {
  @Sendable func askForAll() -> [Bool] {
    [mangled("Late"), "6Plugin4LateV5InnerV", "6Plugin11LateGenericCySiG"].map { find($0) != nil }
  }
  expectEqual([false, false, false], askForAll())
  expectEqual([false, false, false], askForAll())
  // Threads that go on to ask, before, while and after the image is loaded.
  var threads = Threads()
  for _ in 0..<4 {
    threads.start {
      while !stop.load(ordering: .relaxed) { _ = askForAll() }
    }
  }
  usleep(20_000)
  expectNotNil(dlopen(CommandLine.arguments.last!, RTLD_NOW))
  expectEqual([true, true, true], askForAll())
  usleep(20_000)
  stop.store(true, ordering: .relaxed)
  threads.join()
  expectEqual([true, true, true], askForAll())
  expectNil(find(mangled("Absent1")))
}

runAllTests()
