// RUN: %empty-directory(%t)
// RUN: %target-build-swift-dylib(%t/%target-library-name(Library)) -module-name Library %S/Inputs/static_tls_library.swift
// RUN: %target-clang -x c -shared -fPIC %S/Inputs/static_tls_filler.c -o %t/filler.so
// RUN: %target-clang -x c %S/Inputs/static_tls_host.c -o %t/host -ldl
// RUN: %target-codesign %t/host %t/%target-library-name(Library)
// RUN: %target-run %t/host %t/filler.so %t/%target-library-name(Library) 1 | %FileCheck %s
// RUN: env %env-GLIBC_TUNABLES=glibc.rtld.optional_static_tls=0 %target-run %t/host %t/filler.so %t/%target-library-name(Library) 1 | %FileCheck %s
// RUN: %target-run %t/host %t/filler.so %t/%target-library-name(Library) 0 | %FileCheck %s --check-prefix=FULL

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: remote_run || device_run
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// REQUIRES: OS=linux-gnu
// Libraries with a sanitizer load only into a program that has it, too.
// UNSUPPORTED: asan, tsan

// The runtime is loaded when other libraries have taken all the static TLS that there is but 64
// bytes: its thread-local variables need no more. If less is left, the library is loaded or
// refused, with a reason. It must not be loaded to fail later.

// CHECK: full
// CHECK: answer 42

// FULL: full
// FULL: {{answer 42|dlopen: .*cannot allocate memory in static TLS block}}
