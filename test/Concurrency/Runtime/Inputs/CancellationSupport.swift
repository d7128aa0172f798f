// What tests of cancellation wait on, and run their jobs on.

import Dispatch
import Synchronization

/// Runs jobs in order, on a thread of Dispatch.
final class QueueExecutor: TaskExecutor {
  let queue = DispatchQueue(label: "executor")
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

final class Gate: Sendable {
  private let continuation = Mutex<UnsafeContinuation<Void, Never>?>(nil)

  var isWaiting: Bool { continuation.withLock { $0 != nil } }

  func wait() async {
    await withUnsafeContinuation { new in continuation.withLock { $0 = new } }
  }
  func open() {
    continuation.withLock { old in
      defer { old = nil }
      return old
    }?.resume()
  }
}
