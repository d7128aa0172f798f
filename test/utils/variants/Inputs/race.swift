import Glibc

// A plain counter with two writers, whose threads nothing orders.
nonisolated(unsafe) var count = 0

func start() -> pthread_t {
  var thread = pthread_t()
  pthread_create(&thread, nil, { _ in
    for _ in 0..<1000 { count += 1 }
    return nil
  }, nil)
  return thread
}

@main struct Main {
  static func main() {
    let threads = [start(), start()]
    for thread in threads { pthread_join(thread, nil) }
    print("counted")
  }
}
