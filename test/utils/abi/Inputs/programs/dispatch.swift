// libdispatch and tasks on the same threads: groups, sources, queues as executors.
import Dispatch

final class QueueExecutor: SerialExecutor {
  let queue = DispatchQueue(label: "executor")
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}

actor OnQueue {
  nonisolated let executor = QueueExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  var count = 0
  func add() {
    dispatchPrecondition(condition: .onQueue(executor.queue))
    count += 1
  }
}

let actor = OnQueue()
await withTaskGroup(of: Void.self) { group in
  for _ in 0..<1000 { group.addTask { await actor.add() } }
}
print(await actor.count)

let ticks = await withCheckedContinuation { continuation in
  let timer = DispatchSource.makeTimerSource()
  nonisolated(unsafe) var left = 3
  timer.setEventHandler {
    left -= 1
    if left == 0 {
      timer.cancel()
      continuation.resume(returning: 3)
    }
  }
  timer.schedule(deadline: .now(), repeating: .milliseconds(1))
  timer.resume()
}
print(ticks)

let group = DispatchGroup()
DispatchQueue.concurrentPerform(iterations: 8) { _ in
  Task { _ = await actor.count }
  DispatchQueue.global().async(group: group) {}
}
group.wait()
print("done")
