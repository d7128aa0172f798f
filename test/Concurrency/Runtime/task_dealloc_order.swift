// RUN: %empty-directory(%t)
// RUN: %target-build-swift -parse-as-library -module-name order %s -o %t/a.out
// RUN: %target-build-swift -parse-as-library -module-name order -Xlinker --export-dynamic %s -o %t/exports.out
// RUN: %target-codesign %t/a.out %t/exports.out
// RUN: not --crash env %env-SWIFT_BACKTRACE=enable=no %target-run %t/a.out older 2>&1 | %FileCheck %s -check-prefix=OLDER
// RUN: not --crash env %env-SWIFT_BACKTRACE=enable=no %target-run %t/a.out foreign 2>&1 | %FileCheck %s -check-prefix=FOREIGN
// RUN: not --crash env %env-SWIFT_BACKTRACE=enable=no %target-run %t/a.out many 2>&1 | %FileCheck %s -check-prefix=MANY
// RUN: not --crash env %env-SWIFT_BACKTRACE=enable=no %target-run %t/exports.out older 2>&1 | %FileCheck %s -check-prefix=NAMED
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: use_os_stdlib
// XFAIL: without_allocator-abort-words

// Memory of a task that is freed out of order ends the process, with words that name
// the task, the function and the sizes (swiftlang/swift#75501). A function that is
// not exported has no name at run time. 40 bytes take 48, also with the word that guards
// them in a build with assertions.

// OLDER: {{^}}freed pointer was not the last allocation{{$}}
// OLDER: freed pointer was not the last allocation: 0x{{[0-9a-f]+}} (1 older than the last) in {{.*}}a.out+0x{{[0-9a-f]+}} of task {{[0-9]+}} "request"; the last is 0x{{[0-9a-f]+}} of 48 bytes
// NAMED: freed pointer was not the last allocation: 0x{{[0-9a-f]+}} (1 older than the last) in order.free(Swift.UnsafeMutableRawPointer) -> Swift.Never of task {{[0-9]+}} "request"; the last is 0x{{[0-9a-f]+}} of 48 bytes
// FOREIGN: {{^}}freed pointer was not the last allocation{{$}}
// FOREIGN: freed pointer was not the last allocation: 0x{{[0-9a-f]+}} (none of the task's) in {{.*}}a.out+0x{{[0-9a-f]+}} of task {{[0-9]+}} "request"; the last is 0x{{[0-9a-f]+}} of 48 bytes
// No more are counted.
// MANY: freed pointer was not the last allocation: 0x{{[0-9a-f]+}} (1000 or more older than the last) in {{.*}}a.out+0x{{[0-9a-f]+}} of task {{[0-9]+}} "request"; the last is 0x{{[0-9a-f]+}} of 48 bytes

@_silgen_name("swift_task_alloc") func allocate(_: Int) -> UnsafeMutableRawPointer
@_silgen_name("swift_task_dealloc") func deallocate(_: UnsafeMutableRawPointer)

@inline(never) public func free(_ memory: UnsafeMutableRawPointer) -> Never {
  deallocate(memory)
  fatalError("nobody has noticed")
}

@main struct Main {
  static func main() async {
    let mode = CommandLine.arguments[1]
    await Task(name: "request") {
      let first = allocate(100)
      for _ in 0..<(mode == "many" ? 1500 : 1) { _ = allocate(40) }
      free(mode == "foreign" ? first + 8 : first)
    }.value
  }
}
