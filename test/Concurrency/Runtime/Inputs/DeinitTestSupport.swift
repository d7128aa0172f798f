// What tests of deinits look at, and how they decide where and when jobs run.

import Dispatch
#if canImport(Glibc)
import Glibc
#endif
import Synchronization

enum TL {
  @TaskLocal static var number = 0
  @TaskLocal static var name = "none"
  @TaskLocal static var token: Token? = nil
}

/// What happened, in order, from any thread.
final class Events: Sendable {
  private let list = Mutex<[String]>([])
  func add(_ event: String) { list.withLock { $0.append(event) } }
  func take() -> [String] {
    list.withLock { list in
      defer { list = [] }
      return list
    }
  }
}
let events = Events()

/// A task-local value that tells when it is destroyed, and what it sees then.
final class Token: Sendable {
  static let alive = Atomic<Int>(0)

  let name: String
  init(_ name: String) {
    self.name = name
    Token.alive.add(1, ordering: .relaxed)
  }
  deinit {
    events.add("token \(name) sees \(TL.number)")
    Token.alive.subtract(1, ordering: .releasing)
  }
}

/// Run `body` in a task, and wait for it.
func inTask(
  priority: TaskPriority? = nil, _ body: @escaping @Sendable () async -> Void
) {
  let done = DispatchSemaphore(value: 0)
  Task.detached(priority: priority) {
    await body()
    done.signal()
  }
  done.wait()
}

#if canImport(Glibc)
/// Start a thread that knows nothing of Swift concurrency.
@discardableResult
func startThread(_ body: @escaping @Sendable () -> Void) -> pthread_t {
  var thread = pthread_t()
  let work = Unmanaged.passRetained(DispatchWorkItem(block: body))
  pthread_create(&thread, nil, { work in
    Unmanaged<DispatchWorkItem>.fromOpaque(work!).takeRetainedValue().perform()
    return nil
  }, work.toOpaque())
  return thread
}

/// Run `body` on a thread of its own, and wait for the end of both.
func onThread(_ body: @escaping @Sendable () -> Void) {
  pthread_join(startThread(body), nil)
}
#endif

/// Keeps its jobs until it is told to run them, on the calling thread.
final class ManualExecutor: SerialExecutor {
  private let jobs = Mutex<[(job: UnownedJob, priority: JobPriority)]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let priority = job.priority
    let unowned = UnownedJob(job)
    jobs.withLock { $0.append((unowned, priority)) }
  }

  var priorities: [TaskPriority?] {
    jobs.withLock { $0.map { TaskPriority($0.priority) } }
  }

  /// Run the jobs that are there now, and none that comes meanwhile.
  func run() {
    let batch = jobs.withLock { jobs in
      defer { jobs = [] }
      return jobs
    }
    for next in batch {
      next.job.runSynchronously(on: asUnownedSerialExecutor())
    }
  }
}

/// An actor whose jobs wait until the test runs them.
@globalActor actor Manual: GlobalActor {
  static let shared = Manual()
  static let executor = ManualExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    Manual.executor.asUnownedSerialExecutor()
  }
}
