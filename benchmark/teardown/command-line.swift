// teardown-benchmark VARIANT --depth=N --rounds=N prints a line for each round.

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

func fail(_ message: String, hint: String) -> Never {
  fputs("error: \(message)\nhint: \(hint)\n", stderr)
  exit(1)
}

/// A variant: its name, and the bytes that a node takes.
private struct Variant {
  let name: String
  let bytes: Int
  let measure: (_ depth: Int, _ rounds: Int) -> Void

  init<T: Tree & ~Copyable>(_ name: String, bytes: Int, _: T.Type) {
    (self.name, self.bytes) = (name, bytes)
    measure = { depth, rounds in main.measure(T.self, depth: depth, rounds: rounds, report: printRound) }
  }

  init(_ name: String, bytes: Int, measure: @escaping (Int, Int) -> Void) {
    (self.name, self.bytes, self.measure) = (name, bytes, measure)
  }

  static let all = [
    Variant("c-malloc", bytes: 32, MallocTree.self),
    Variant("c-buffer", bytes: 16, BufferTree.self),
    Variant("class", bytes: 48, ClassTree.self),
    Variant("enum", bytes: 48, EnumTree.self),
    Variant("array", bytes: 16, ArrayTree.self),
    Variant("copy-on-write", bytes: 16, CopyOnWriteTree.self),
    Variant("arena", bytes: 16, ArenaTree.self),
    // With room for the jobs of the half that can be enqueued at once.
    Variant("isolated-on-actor", bytes: 48) { depth, rounds in
      onFirstActor { main.measure(OneActorTree.self, depth: depth, rounds: rounds, report: printRound) }
    },
    Variant("isolated-one-actor", bytes: 48, OneActorTree.self),
    Variant("isolated-layers", bytes: 128, LayeredTree.self),
  ]
}

private func printRound(_ round: Round) {
  print(round.generate, round.copy, round.delete, round.virtual, round.resident, round.waited, separator: "\t")
  fflush(stdout)
}

@main
struct Main {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    if arguments.first == "--list" {
      for variant in Variant.all { print(variant.name, variant.bytes, separator: "\t") }
      return
    }
    let numbers = arguments.dropFirst().compactMap { Int($0.drop { $0 != "=" }.dropFirst()) }
    guard let variant = Variant.all.first(where: { $0.name == arguments.first }), numbers.count == 2,
      (2...30).contains(numbers[0]), numbers[1] >= 1
    else {
      fail("cannot understand the arguments", hint: "teardown-benchmark VARIANT --depth=2...30 --rounds=N, or --list")
    }
    variant.measure(numbers[0], numbers[1])
  }
}
