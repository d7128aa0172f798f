// The counters of the recorder of tasks, in its process.

import Glibc

let library = dlopen("libswift_Trace.so", RTLD_NOW | RTLD_NOLOAD)
let getCounters = unsafeBitCast(
  dlsym(library, "swift_concurrency_getCounters")!, to: (@convention(c) (UnsafeMutablePointer<UInt64>) -> Bool).self)

/// Waits until only the main task is left: nobody is amid an event. Returns the size of the counters, a time, and how
/// many tasks were created and destroyed.
@discardableResult func waitForTasks() -> [UInt64] {
  var words: [UInt64] = [32, 0, 0, 0]
  repeat {
    usleep(100_000)
    precondition(getCounters(&words))
  } while words[2] - words[3] > 1
  usleep(100_000)
  return words
}
