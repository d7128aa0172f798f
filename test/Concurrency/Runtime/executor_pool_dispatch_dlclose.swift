// RUN: %empty-directory(%t)
// RUN: %target-build-swift-dylib(%t/%target-library-name(Plugin)) -module-name Plugin -target %target-future-triple -plugin-path %swift-plugin-dir %S/Inputs/concurrency_dlopen_plugin.swift
// RUN: %target-clang -x c %S/Inputs/executor-pool-dispatch-dlclose.c -o %t/host -pthread -ldl
// RUN: %target-codesign %t/host %t/%target-library-name(Plugin)
// RUN: env %env-SWIFT_POOL=1 %target-run %t/host %t/%target-library-name(Plugin) 100 | %FileCheck %s
// RUN: env %env-SWIFT_POOL=1 %target-run %t/host %t/%target-library-name(Plugin) 0 | %FileCheck %s -check-prefix=NONE

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// REQUIRES: OS=linux-gnu
// Libraries with a sanitizer load only into a program that has it, too.
// UNSUPPORTED: asan, tsan
// XFAIL: without_executor-dispatch

// A plugin with Swift is closed: what runs Dispatch's blocks stays.

// CHECK: 1000 ran, 1000 on the pool

// It is closed before its first job: nothing of it is left to call.

// NONE: 1000 ran
