import Synchronization

// The mutex is contended, so its slow paths run, which are not instrumented.
final class Counter: Sendable {
  let count = Mutex([0])
}

@main struct Main {
  static func main() async {
    let counter = Counter()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<20_000 { counter.count.withLock { $0[0] += 1 } }
        }
      }
    }
    print(counter.count.withLock { $0[0] })
  }
}
