import Dispatch
import Glibc
import Synchronization

/// Adds what it is told; its deinit runs on its own executor.
actor Sum {
  var value = 0
  func add(_ some: Int) { value += some }
}

@globalActor actor Custodian { static let shared = Custodian() }

@Custodian final class Resource {
  let done: CheckedContinuation<Void, Never>
  nonisolated init(_ done: CheckedContinuation<Void, Never>) { self.done = done }
  isolated deinit {
    Custodian.shared.preconditionIsolated()
    done.resume()
  }
}

enum Request { @TaskLocal static var id = 0 }

/// The name of the thread that a block of a global queue runs on. It is the first block, and the process's first thread
/// adds it: a thread that Dispatch makes has the name of that one, not a worker's.
func nameInBlock() -> String {
  let isDone = DispatchSemaphore(value: 0)
  nonisolated(unsafe) var name = [CChar](repeating: 0, count: 64)
  DispatchQueue.global().async {
    let file = open("/proc/thread-self/comm", O_RDONLY)
    read(file, &name, 63)
    close(file)
    isDone.signal()
  }
  isDone.wait()
  return String(cString: name)
}

@main struct Demonstration {
  static func main() async throws {
    print("block on", nameInBlock(), terminator: "")
    let sum = Sum()
    await withTaskGroup(of: Int.self) { group in
      for number in 1...100 { group.addTask { await sum.add(number); return number } }
      for await _ in group {}
    }
    print("group and actor", await sum.value, terminator: "; ")
    let ids = await Request.$id.withValue(7) { await Task { Request.id }.value }
    print("task-local", ids, terminator: "; ")
    await withCheckedContinuation { done in _ = Resource(done) }
    print("isolated deinit", terminator: "; ")
    let counter = Mutex(0)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 { group.addTask { for _ in 0..<1000 { counter.withLock { $0 += 1 } } } }
    }
    print("mutex", counter.withLock { $0 }, terminator: "; ")
    try await Task.sleep(for: .milliseconds(1))
    let (stream, source) = AsyncStream.makeStream(of: Int.self)
    for number in 0..<3 { source.yield(number) }
    source.finish()
    var read: [Int] = []
    for await number in stream { read.append(number) }
    print("stream", read, terminator: "; ")
    let values: [Any] = [1, "two", 3.0]
    print("casts", values.compactMap { $0 as? CustomStringConvertible }.map(\.description))
  }
}
