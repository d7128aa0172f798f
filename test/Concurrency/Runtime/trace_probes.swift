// RUN: %empty-directory(%t)
// RUN: %target-build-swift %import-libdispatch -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out > %t/library

// RUN: %{python} %S/Inputs/list_probes.py $(cat %t/library) | sort > %t/probes
// RUN: %FileCheck %s < %t/probes
// CHECK:      actor_deallocate 1 semaphore
// CHECK:      actor_dequeue 2 semaphore
// CHECK:      actor_enqueue 2 semaphore
// CHECK:      actor_job_queue 2 semaphore
// CHECK:      actor_lifetime_begin 2 semaphore
// CHECK:      actor_state_changed 6 semaphore
// CHECK:      group_add 2 semaphore
// CHECK:      group_next 2 semaphore
// CHECK:      isolated_deinit 2 semaphore
// CHECK:      isolated_deinit_shared 2 semaphore
// CHECK:      job_enqueue_global 1 semaphore
// CHECK:      job_enqueue_global_with_delay 2 semaphore
// CHECK:      job_enqueue_main_executor 1 semaphore
// CHECK:      job_run_begin 1 semaphore
// CHECK:      job_run_end 1 semaphore
// CHECK:      pool_park 0 semaphore
// CHECK:      pool_stand_in 1 semaphore
// CHECK:      pool_steal 1 semaphore
// CHECK:      pool_thread_begin 1 semaphore
// CHECK:      pool_unpark 0 semaphore
// CHECK:      pool_wake 1 semaphore
// CHECK:      task_cancel 1 semaphore
// CHECK:      task_continuation_await 1 semaphore
// CHECK:      task_continuation_begin 2 semaphore
// CHECK:      task_continuation_end 2 semaphore
// CHECK:      task_flags_changed 6 semaphore
// CHECK:      task_lifetime_begin 13 semaphore
// CHECK:      task_lifetime_end 1 semaphore
// CHECK:      task_sleep_begin 2 semaphore
// CHECK:      task_sleep_cancel 1 semaphore
// CHECK:      task_sleep_end 1 semaphore
// CHECK:      task_status_changed 7 semaphore
// CHECK:      task_switch 3 semaphore
// CHECK:      task_wait_begin 3 semaphore
// CHECK:      task_wait_end 1 semaphore

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// UNSUPPORTED: emulated
// With UndefinedBehaviorSanitizer the compiler makes two places of one probe.
// UNSUPPORTED: runtime_ubsan
// XFAIL: without_tracing-probes

// Each trace point is a probe that tools find in the library, with its arguments and
// the one semaphore of all.

import Glibc

@main struct Main {
  static func main() async {
    // Swift does not see what is no part of POSIX.
    typealias Info = (UnsafePointer<CChar>?, UnsafeRawPointer?, UnsafePointer<CChar>?, UnsafeRawPointer?)
    let dladdr = unsafeBitCast(
      dlsym(nil, "dladdr"),
      to: (@convention(c) (UnsafeRawPointer, UnsafeMutableRawPointer) -> Int32).self)
    var info: Info = (nil, nil, nil, nil)
    precondition(dladdr(dlsym(nil, "swift_task_create")!, &info) != 0)
    print(String(cString: info.0!))
  }
}
