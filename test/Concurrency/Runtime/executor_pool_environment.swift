// RUN: %empty-directory(%t)
// RUN: %target-build-swift -target %target-future-triple -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: env -u SWIFT_POOL -u SWIFT_POOL_WIDTH %target-run %t/a.out 2>&1 | %FileCheck %s --check-prefix=OFF --implicit-check-not=Warning
// RUN: %env-SWIFT_POOL=0 %target-run %t/a.out 2>&1 | %FileCheck %s --check-prefix=OFF --implicit-check-not=Warning
// RUN: %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=3 %target-run %t/a.out 2>&1 | %FileCheck %s --check-prefix=ON --implicit-check-not=Warning
// RUN: %env-SWIFT_POOL=maybe %target-run %t/a.out 2>&1 | %FileCheck %s --check-prefix=BAD-SWITCH
// RUN: %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=3x %target-run %t/a.out 2>&1 | %FileCheck %s --check-prefix=BAD-WIDTH
// RUN: %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=-1 %target-run %t/a.out 2>&1 | %FileCheck %s --check-prefix=BAD-WIDTH
// RUN: %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=1025 %target-run %t/a.out 2>&1 | %FileCheck %s --check-prefix=BAD-WIDTH
// RUN: %env-SWIFT_POOL=1 %env-SWIFT_POOL_WIDTH=99999999999 %target-run %t/a.out 2>&1 | %FileCheck %s --check-prefix=BAD-WIDTH

// REQUIRES: libdispatch
// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// REQUIRES: OS=linux-gnu

// XFAIL: without_executor-pool

// The variables that turn the pool on, and how many of its threads run jobs.

// OFF: pool threads: 0 of 4
// ON: pool threads: 3 of 3

// BAD-SWITCH: Warning: cannot parse value SWIFT_POOL=maybe
// BAD-SWITCH-NOT: Warning
// BAD-SWITCH: pool threads: 0 of 4

// BAD-WIDTH: Warning: {{.*}}SWIFT_POOL_WIDTH=
// BAD-WIDTH-NOT: Warning
// BAD-WIDTH: pool threads: default

import Glibc
import Synchronization

let running = Atomic(0)
let done = Atomic(false)

/// The threads of this process that run the jobs of the pool.
func poolThreads() -> Int {
  var count = 0
  let folder = opendir("/proc/self/task")!
  while let entry = readdir(folder) {
    let id = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    guard let file = fopen("/proc/self/task/\(id)/comm", "r") else { continue }
    var text = [CChar](repeating: 0, count: 64)
    if fgets(&text, 64, file) != nil {
      let name = String(cString: text)
      if name.hasPrefix("swift-pool-"), name.dropFirst(11).first!.isNumber {
        count += 1
      }
    }
    fclose(file)
  }
  closedir(folder)
  return count
}

/// How many processors the process may use.
func allowedProcessors() -> Int {
  let file = fopen("/proc/self/status", "r")!
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 4096)
  while fgets(&line, 4096, file) != nil {
    let text = String(cString: line)
    if text.hasPrefix("Cpus_allowed:") {
      return text.dropFirst(13).reduce(0) { $0 + ($1.hexDigitValue ?? 0).nonzeroBitCount }
    }
  }
  fatalError("no Cpus_allowed")
}

/// Have as many jobs as `most` run at a time, if there are threads for them.
@main struct Main {
  static func main() async {
    let processors = allowedProcessors()
    let isThree = getenv("SWIFT_POOL_WIDTH").map { strcmp($0, "3") == 0 } ?? false
    let isOn = getenv("SWIFT_POOL").map { strcmp($0, "1") == 0 } ?? false
    let most = isOn ? (isThree ? 3 : processors) : 1

    for _ in 0..<8 * most {
      Task.detached {
        running.add(1, ordering: .relaxed)
        // They compute, so no other thread stands in for them.
        while !done.load(ordering: .relaxed) {}
        running.subtract(1, ordering: .relaxed)
      }
    }
    for _ in 0..<10_000 where running.load(ordering: .relaxed) < most {
      usleep(1000)
    }
    usleep(50_000)
    let threads = poolThreads()
    if isOn && !isThree && threads == processors {
      print("pool threads: default")
    } else {
      print("pool threads: \(threads) of \(isThree ? 3 : 4)")
    }
    done.store(true, ordering: .relaxed)
    while running.load(ordering: .relaxed) != 0 { usleep(1000) }
  }
}
