@main struct Main {
  // A plain counter with two writers.
  nonisolated(unsafe) static var count = 0

  static func main() async {
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<2 {
        group.addTask { for _ in 0..<100_000 { count += 1 } }
      }
    }
    print("counted")
  }
}
