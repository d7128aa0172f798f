// RUN: %empty-directory(%t)
// RUN: %target-build-swift-dylib(%t/%target-library-name(Plugin)) -module-name Plugin -target %target-future-triple -plugin-path %swift-plugin-dir %S/Inputs/concurrency_dlopen_plugin.swift
// RUN: %target-clang -x c %S/Inputs/concurrency_dlopen_host.c -o %t/host -pthread -ldl
// RUN: %target-clang -x c %S/Inputs/isolated_deinit_thread_exit.c -o %t/closes -pthread -ldl
// RUN: %target-codesign %t/host %t/closes %t/%target-library-name(Plugin)
// The threads of the pool would keep the runtime.
// RUN: env %env-SWIFT_POOL=0 %env-SWIFT_TRACE=%t/trace %target-run %t/host %t/%target-library-name(Plugin) > %t/log 2>&1
// RUN: %FileCheck %s < %t/log
// RUN: env %env-SWIFT_POOL=0 %env-SWIFT_TRACE=%t/closed %target-run %t/closes %t/%target-library-name(Plugin) | %FileCheck --check-prefix=STAYS %s
// RUN: %{python} %S/Inputs/dump_trace.py %t/trace = | %FileCheck --check-prefix=TRACE %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: emulated
// Libraries with a sanitizer load only into a program that has it, too.
// UNSUPPORTED: asan, tsan
// XFAIL: without_tracing-recorder

// A program without Swift closes a plug-in and loads it again. The runtime that is recorded stays, also if the program
// does not keep it.

// STAYS: library gone
// STAYS-NEXT: runtime mapped
// STAYS-NEXT: done
// CHECK-NOT: error
// CHECK: done
// TRACE: complete=1
