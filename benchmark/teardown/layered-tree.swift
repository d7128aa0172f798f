// A tree whose layers are isolated to two actors in turn: every object hops.

final class EvenNode: @unchecked Sendable {
  static let deinits = TreeDeinits()
  let value: Int
  let left, right: OddNode?

  init(_ value: Int, _ left: OddNode?, _ right: OddNode?) {
    (self.value, self.left, self.right) = (value, left, right)
  }

  static func make(_ value: Int, depth: Int) -> EvenNode? {
    depth == 0 ? nil : EvenNode(value, OddNode.make(2 * value, depth: depth - 1),
                                OddNode.make(2 * value + 1, depth: depth - 1))
  }

  func copied() -> EvenNode { EvenNode(value, left?.copied(), right?.copied()) }
  func sum() -> Int { value + (left?.sum() ?? 0) + (right?.sum() ?? 0) }

  @FirstTreeActor deinit { EvenNode.deinits.add() }
}

final class OddNode: @unchecked Sendable {
  static let deinits = TreeDeinits()
  let value: Int
  let left, right: EvenNode?

  init(_ value: Int, _ left: EvenNode?, _ right: EvenNode?) {
    (self.value, self.left, self.right) = (value, left, right)
  }

  static func make(_ value: Int, depth: Int) -> OddNode? {
    depth == 0 ? nil : OddNode(value, EvenNode.make(2 * value, depth: depth - 1),
                               EvenNode.make(2 * value + 1, depth: depth - 1))
  }

  func copied() -> OddNode { OddNode(value, left?.copied(), right?.copied()) }
  func sum() -> Int { value + (left?.sum() ?? 0) + (right?.sum() ?? 0) }

  @SecondTreeActor deinit { OddNode.deinits.add() }
}

struct LayeredTree: Tree {
  let root: EvenNode
  init(depth: Int) {
    let layers = (0..<depth).map { 1 << $0 }
    EvenNode.deinits.count = stride(from: 0, to: depth, by: 2).reduce(0) { $0 + layers[$1] }
    OddNode.deinits.count = stride(from: 1, to: depth, by: 2).reduce(0) { $0 + layers[$1] }
    root = EvenNode.make(1, depth: depth)!
  }
  private init(_ root: EvenNode) { self.root = root }
  func copied() -> LayeredTree { LayeredTree(root.copied()) }
  func sum() -> Int { root.sum() }

  static func waitForDrop() {
    EvenNode.deinits.wait()
    OddNode.deinits.wait()
  }
}
