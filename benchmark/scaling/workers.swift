// Starts the workers, and measures each for the same time.

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif
import Dispatch

struct Plan {
  var row: Row
  var asTasks = false
  var workers = 1
  /// The processors for the workers that are threads, one each.
  var processors: [Int32] = []
  /// When all workers begin, on the monotonic clock; 0: soon.
  var start: UInt64 = 0
  var duration: UInt64 = 100_000_000
}

/// What a worker did, and how long it was kept from it by other programs.
struct Outcome {
  var operations = 0
  var elapsed: UInt64 = 0
  var waited: UInt64 = 0
  /// It was not ready when the others began.
  var late = false
}

private final class Worker: @unchecked Sendable {
  let maker: Maker
  let processor: Int32?
  var outcome = Outcome()

  init(_ maker: @escaping Maker, _ processor: Int32?) {
    (self.maker, self.processor) = (maker, processor)
  }

  func run(from start: UInt64, for duration: UInt64) {
    if let processor, machine_pin(processor) != 0 {
      fail("cannot bind a thread to processor \(processor)", hint: "taskset -p $$ shows those that may be used")
    }
    let work = maker()
    // The first time pays for caches, and for pages of memory.
    _ = work()
    let late = machine_now() > start
    while machine_now() < start {}
    let waited = machine_waited()
    let end = start + duration
    var now = start
    // Not counted in the outcome, which can be in one cache line with another worker's.
    var operations = 0
    while now < end {
      operations += work()
      now = machine_now()
    }
    outcome = Outcome(operations: operations, elapsed: now - start,
                      waited: machine_waited() - waited, late: late)
  }
}

/// Runs the plan; returns an outcome for each worker.
func measure(_ plan: Plan) -> [Outcome] {
  let makers = plan.row.prepare(plan.workers)
  let workers = makers.enumerated().map { index, maker in
    Worker(maker, plan.asTasks || plan.processors.isEmpty ? nil : plan.processors[index % plan.processors.count])
  }
  let start = plan.start != 0 ? plan.start : machine_now() + 20_000_000
  let done = DispatchGroup()
  for worker in workers {
    done.enter()
    if plan.asTasks {
      Task.detached {
        worker.run(from: start, for: plan.duration)
        done.leave()
      }
    } else {
      startThread {
        worker.run(from: start, for: plan.duration)
        done.leave()
      }
    }
  }
  done.wait()
  return workers.map(\.outcome)
}

private func startThread(_ body: @escaping () -> Void) {
  final class Body {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
  }
  let argument = Unmanaged.passRetained(Body(body)).toOpaque()
#if canImport(Darwin)
  var thread: pthread_t?
  let status = pthread_create(&thread, nil, { argument in
    Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
    return nil
  }, argument)
#else
  var thread = pthread_t()
  let status = pthread_create(&thread, nil, { argument in
    Unmanaged<Body>.fromOpaque(argument!).takeRetainedValue().run()
    return nil
  }, argument)
#endif
  if status != 0 { fail("cannot start a thread: error \(status)", hint: "use fewer workers") }
}
