// Foundation on libdispatch: queues and timers of the first thread's run loop, a process, operations.
import Foundation

@main struct Main {
  @MainActor static func main() {
    let done = DispatchGroup()
    done.enter()
    let timer = Timer(timeInterval: 0.01, repeats: false) { _ in
      precondition(Thread.isMainThread)
      print("timer")
      done.leave()
    }
    RunLoop.main.add(timer, forMode: .default)

    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "exit 3"]
    done.enter()
    process.terminationHandler = { ended in
      DispatchQueue.main.async {
        precondition(Thread.isMainThread)
        print("process", ended.terminationStatus)
        done.leave()
      }
    }

    let queue = OperationQueue()
    let lock = NSLock()
    nonisolated(unsafe) var sum = 0
    queue.addOperations((1...100).map { number in BlockOperation { lock.withLock { sum += number } } }, waitUntilFinished: true)
    print("operations", sum)

    done.enter()
    Task.detached {
      let number = await Task { try? JSONDecoder().decode([Int].self, from: Data("[7]".utf8)) }.value
      await MainActor.run { print("task", number ?? []) }
      try! process.run()
      done.leave()
    }
    done.notify(queue: .main) { exit(0) }
    RunLoop.main.run()
  }
}
