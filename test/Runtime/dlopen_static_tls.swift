// RUN: %empty-directory(%t)
// RUN: %target-build-swift-dylib(%t/%target-library-name(Library)) -module-name Library %S/Inputs/static_tls_library.swift
// RUN: %target-clang -x c -shared -fPIC %S/Inputs/static_tls_filler.c -o %t/filler.so
// RUN: %target-clang -x c %S/Inputs/static_tls_host.c -o %t/host -pthread -ldl
// RUN: %target-codesign %t/host %t/%target-library-name(Library)
// RUN: %target-run %t/host %t/filler.so %t/%target-library-name(Library) 0 | %FileCheck %s
// RUN: %target-run %t/host %t/filler.so %t/%target-library-name(Library) 1 | %FileCheck %s
// RUN: env %env-GLIBC_TUNABLES=glibc.rtld.optional_static_tls=0 %target-run %t/host %t/filler.so %t/%target-library-name(Library) 0 | %FileCheck %s
// RUN: env %env-GLIBC_TUNABLES=glibc.rtld.optional_static_tls=0 %target-run %t/host %t/filler.so %t/%target-library-name(Library) 1 | %FileCheck %s
// RUN: env %env-GLIBC_TUNABLES=glibc.rtld.optional_static_tls=4096 %target-run %t/host %t/filler.so %t/%target-library-name(Library) 64 | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: remote_run || device_run
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// REQUIRES: OS=linux-gnu
// Libraries with a sanitizer load only into a program that has it, too.
// UNSUPPORTED: asan, tsan

// The runtime is loaded when other libraries have taken all the static TLS that there is, all but
// 64 bytes, and when there is enough: each time it works, in threads that were there before and
// in new ones.

// CHECK: full
// CHECK: answer 42
// CHECK: threads 42 42 42 42
