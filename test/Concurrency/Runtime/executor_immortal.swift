// RUN: %target-run-simple-swift( -target %target-future-triple -parse-as-library -Xfrontend -disable-availability-checking)

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// XFAIL: without_executor-immortal

// Nobody writes to the reference count of the global executor, however often it is
// retained, and it lives on when it is released.

@main struct Main {
  static func main() async {
    let executor = globalConcurrentExecutor as AnyObject
    let count = _getRetainCount(executor)
    let reference = Unmanaged.passUnretained(executor)
    for _ in 0..<100 { _ = reference.retain() }
    precondition(_getRetainCount(executor) == count, "retain counts")
    for _ in 0..<200 { reference.release() }
    precondition(_getRetainCount(executor) == count, "release counts")
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<1000 { group.addTask { await Task.yield() } }
    }
    precondition(_getRetainCount(executor) == count, "jobs count")
    await MainActor.run {}
  }
}
