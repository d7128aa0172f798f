// RUN: %empty-directory(%t)
// RUN: %target-build-swift-dylib(%t/%target-library-name(Plugin)) -module-name Plugin -target %target-future-triple -plugin-path %swift-plugin-dir %S/Inputs/concurrency_dlopen_plugin.swift
// RUN: %target-clang -x c %S/Inputs/executor-pool-static-tls.c -o %t/host -pthread -ldl
// RUN: %target-clang -x c -DSIZE=512 -shared -fPIC %S/Inputs/executor-pool-static-tls.c -o %t/large.so
// RUN: %target-clang -x c -DSIZE=8 -shared -fPIC %S/Inputs/executor-pool-static-tls.c -o %t/small.so
// RUN: %target-codesign %t/host %t/%target-library-name(Plugin)
// RUN: env %env-GLIBC_TUNABLES=glibc.rtld.optional_static_tls=0 %env-SWIFT_POOL=0 %target-run %t/host %t/%target-library-name(Plugin) %t/large.so %t/small.so | %FileCheck %s
// RUN: env %env-GLIBC_TUNABLES=glibc.rtld.optional_static_tls=0 %env-SWIFT_POOL=1 %target-run %t/host %t/%target-library-name(Plugin) %t/large.so %t/small.so | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// REQUIRES: OS=linux-gnu
// Libraries with a sanitizer load only into a program that has it, too.
// UNSUPPORTED: asan, tsan
// The sanitizer's own library needs that storage.
// UNSUPPORTED: runtime_ubsan, runtime_before-ubsan

// The runtime is loaded by a plugin into a program that has no static thread-local storage
// left: its threads need none.

// CHECK: static storage is used up: yes
// CHECK: left 0
