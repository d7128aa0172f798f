// RUN: %empty-directory(%t)
// RUN: %target-build-swift -parse-as-library -module-name order %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: not --crash env %env-SWIFT_BACKTRACE=enable=no %target-run %t/a.out older 2>&1 | %FileCheck %s -check-prefix=OLDER
// RUN: not --crash env %env-SWIFT_BACKTRACE=enable=no %target-run %t/a.out foreign 2>&1 | %FileCheck %s -check-prefix=FOREIGN
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: use_os_stdlib
// XFAIL: without_allocator-abort-words

// Memory of a task that is freed out of order ends the process, with words that name
// the task, the function and the sizes (swiftlang/swift#75501).

// OLDER: {{^}}freed pointer was not the last allocation{{$}}
// OLDER: freed pointer was not the last allocation: 0x{{[0-9a-f]+}} (1 older than the last) in {{.+}} of task {{[0-9]+}} "request"; the last is 0x{{[0-9a-f]+}} of {{[0-9]+}} bytes
// FOREIGN: {{^}}freed pointer was not the last allocation{{$}}
// FOREIGN: freed pointer was not the last allocation: 0x{{[0-9a-f]+}} (none of the task's) in {{.+}} of task {{[0-9]+}} "request"; the last is 0x{{[0-9a-f]+}} of {{[0-9]+}} bytes

@_silgen_name("swift_task_alloc") func allocate(_: Int) -> UnsafeMutableRawPointer
@_silgen_name("swift_task_dealloc") func deallocate(_: UnsafeMutableRawPointer)

@main struct Main {
  static func main() async {
    let isForeign = CommandLine.arguments[1] == "foreign"
    await Task(name: "request") {
      let first = allocate(100)
      _ = allocate(48)
      deallocate(isForeign ? first + 8 : first)
    }.value
  }
}
