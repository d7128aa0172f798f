// RUN: %target-run-simple-swift( -target %target-future-triple -parse-as-library -Xfrontend -disable-availability-checking)

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// XFAIL: without_executor-immortal

// Nobody writes to the reference counts of the global executor and of the main one,
// however often they are retained, and they live on when they are released.

func check(_ name: String, _ executor: AnyObject, _ enqueue: @escaping @Sendable () async -> Void) async {
  let count = _getRetainCount(executor)
  let reference = Unmanaged.passUnretained(executor)
  for _ in 0..<100 { _ = reference.retain() }
  precondition(_getRetainCount(executor) == count, "retain counts: \(name)")
  for _ in 0..<200 { reference.release() }
  precondition(_getRetainCount(executor) == count, "release counts: \(name)")
  await withTaskGroup(of: Void.self) { group in
    for _ in 0..<1000 { group.addTask { await enqueue() } }
  }
  precondition(_getRetainCount(executor) == count, "jobs count: \(name)")
}

@main struct Main {
  static func main() async {
    await check("global", globalConcurrentExecutor as AnyObject) { await Task.yield() }
    // The first of its two words is the object.
    let words = unsafeBitCast(MainActor.sharedUnownedExecutor, to: (object: UnsafeRawPointer, UInt).self)
    let main = Unmanaged<AnyObject>.fromOpaque(words.object).takeUnretainedValue()
    await check("main", main) { @MainActor in await Task.yield() }
  }
}
