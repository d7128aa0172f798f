// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -std=gnu11 -Wall -Werror -Wno-unused-command-line-argument -I %S/../../../liveness/include -c %S/../../../liveness/samples/scope.c -o %t/c.o
// RUN: %target-clang -x c++ -std=c++17 -Wall -Werror -Wno-unused-command-line-argument -I %S/../../../liveness/include -c %S/../../../liveness/samples/scope.cpp -o %t/cpp.o
// RUN: %target-build-swift -parse-as-library -I %S/../../../liveness/include %S/../../../liveness/samples/LivenessScope.swift %S/../../../liveness/samples/scope.swift -o %t/swift
// RUN: echo 'import _Concurrency' > %t/empty.swift
// RUN: %target-build-swift -parse-as-library %t/empty.swift %t/c.o -o %t/c
// RUN: %target-build-swift -parse-as-library %t/empty.swift %t/cpp.o -lstdc++ -o %t/cpp
// RUN: %target-codesign %t/c %t/cpp %t/swift
// RUN: %target-run %t/c | %FileCheck %s
// RUN: %target-run %t/cpp | %FileCheck %s
// RUN: %target-run %t/swift | %FileCheck %s

// CHECK: scope "sample", blocked, stuck for {{[0-9]+}}
// CHECK: checkpoints (3): 1 2 3
// CHECK: moves again after

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// They say so on a runtime without the monitor.
// XFAIL: without_executor-liveness-scopes
