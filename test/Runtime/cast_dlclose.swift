// RUN: %empty-directory(%t)
// RUN: %target-build-swift-dylib(%t/%target-library-name(Plugin)) -module-name Plugin %S/Inputs/cast_dlclose_plugin.swift
// RUN: %target-clang -x c %S/Inputs/cast_dlclose.c -o %t/host -pthread -ldl
// RUN: %target-codesign %t/host %t/%target-library-name(Plugin)
// RUN: %target-run %t/host %t/%target-library-name(Plugin) | %FileCheck %s
// RUN: %if !emulated %{ %target-run %t/host %t/%target-library-name(Plugin) libswiftCore.so | %FileCheck --check-prefix=KEPT %s %}

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// REQUIRES: OS=linux-gnu
// Libraries with a sanitizer load only into a program that has it, too.
// UNSUPPORTED: asan, tsan

// Threads exit after dlclose of a library whose values they have cast to a protocol. Then it
// is loaded again, at the same addresses as a rule: the answers that the runtime keeps, if it
// has not been unmapped, too, are for an earlier generation of conformances. The second time the
// host keeps the runtime. Not in the emulator: there the library comes back at other addresses, and
// a runtime, with or without patches, reads the images that it has known where they were.

// CHECK: library gone, runtime {{mapped|gone}}, 240 240 240 240
// CHECK-NEXT: library gone, runtime {{mapped|gone}}, 240 240 240 240
// CHECK-NEXT: library gone, runtime {{mapped|gone}}, 240 240 240 240
// CHECK-NEXT: done

// KEPT: library gone, runtime mapped, 240 240 240 240
// KEPT-NEXT: library gone, runtime mapped, 240 240 240 240
// KEPT-NEXT: library gone, runtime mapped, 240 240 240 240
// KEPT-NEXT: done
