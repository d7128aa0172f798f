// A search that uses references as much as it can: the numbers game of Countdown.
//
// Of a few numbers, two are taken away and their sum, difference, product or quotient is
// put back, until one number is left. All ways are tried. Each number is an object that
// refers to those it was made from, the numbers of a state are an array of references,
// and each step is a closure that continues with what was made.

final class Node {
  let value: Int
  let left: Node?
  let right: Node?

  init(_ value: Int, _ left: Node? = nil, _ right: Node? = nil) {
    (self.value, self.left, self.right) = (value, left, right)
  }
}

/// The rules: which operators there are, and how large a number may be.
final class Config {
  let operators: [Character]
  let largest: Int

  init(operators: [Character], largest: Int) {
    (self.operators, self.largest) = (operators, largest)
  }

  static func standard() -> Config { Config(operators: ["+", "-", "*", "/"], largest: 100_000) }
}

/// Looks at a number that was made; returns 1 if it is one that is looked for.
typealias Examine = (Node) -> Int

/// What a search works on. Each part can be the worker's own or the parent's.
struct Game {
  var leaves: [Node]
  var config: Config
  var examine: Examine

  static let numbers = [3, 7, 25, 50]
  static let target = 765

  static func makeLeaves() -> [Node] { numbers.map { Node($0) } }

  /// Searches everything. Returns how many numbers were made.
  func run() -> Int {
    let total = Total()
    explore(leaves, config, examine, total)
    return total.made
  }
}

/// Counts for one search; it belongs to its worker.
final class Total {
  var made = 0
  var found = 0
}

@inline(never)
private func explore(_ nodes: [Node], _ config: Config, _ examine: @escaping Examine, _ total: Total) {
  for first in nodes.indices.dropLast() {
    for second in nodes.indices[(first + 1)...] {
      var rest = nodes
      rest.remove(at: second)
      rest.remove(at: first)
      combine(nodes[first], nodes[second], config) { made in
        total.made += 1
        total.found += examine(made)
        if !rest.isEmpty { explore(rest + [made], config, examine, total) }
      }
    }
  }
}

/// Continues with each number that can be made of two.
@inline(never)
private func combine(_ a: Node, _ b: Node, _ config: Config, _ next: @escaping (Node) -> Void) {
  let (large, small) = a.value >= b.value ? (a, b) : (b, a)
  for symbol in config.operators {
    let value: Int
    switch symbol {
    case "+": value = large.value + small.value
    case "-": value = large.value - small.value
    case "*": value = large.value * small.value
    default:
      if small.value == 0 || large.value % small.value != 0 { continue }
      value = large.value / small.value
    }
    if value > 0 && value <= config.largest { next(Node(value, large, small)) }
  }
}
