// RUN: %empty-directory(%t)
// RUN: %target-build-swift-dylib(%t/%target-library-name(Plugin)) -module-name Plugin -target %target-future-triple -plugin-path %swift-plugin-dir %S/Inputs/concurrency_dlopen_plugin.swift
// RUN: %target-clang -x c %S/Inputs/isolated_deinit_thread_exit.c -o %t/host -pthread -ldl
// RUN: %target-codesign %t/host %t/%target-library-name(Plugin)
// The threads of the pool would keep the runtime.
// RUN: env %env-SWIFT_POOL=0 %target-run %t/host %t/%target-library-name(Plugin) | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// REQUIRES: OS=linux-gnu
// Libraries with a sanitizer load only into a program that has it, too.
// UNSUPPORTED: asan, tsan

// A thread that has enqueued isolated deinits exits after dlclose of their library, which
// unmaps the runtime, too: nothing of it may be called then.

// CHECK: left 0
// CHECK: library gone
// CHECK: runtime gone
// CHECK: done
