// The benchmarks by name: which objects, in which shape, in which mode of the
// runtime, and where they are released.

struct Benchmark: Sendable {
  enum Shape { case array, tree }

  var name: String
  /// A mode of deinit-modes.h.
  var mode: Int
  /// The actor that releases the objects; nil: none, so that an isolated deinit hops.
  var releasedOn: (any Actor)?
  var shape: Shape
  var make: MakeNode

  /// The objects of one point: all of them, or the root of their tree.
  func objects(_ count: Int, _ gauge: Gauge) -> [AnyObject] {
    switch shape {
    case .array: (0..<count).map { _ in make(gauge, 0, nil, nil) }
    case .tree: makeTree(count, gauge, make).map { [$0] } ?? []
    }
  }

  static let all: [Benchmark] =
    pair("nonisolated", reset, make: plain)
    + pair("isolated_no_hop_copy", copy, on: FirstActor.shared, make: first)
    + pair("isolated_no_hop_reset", reset, on: FirstActor.shared, make: first)
    + pair("isolated_hop_copy", copy, make: first) + interleaved("isolated_hop_copy", copy)
    + pair("isolated_hop_reset", reset, make: first) + interleaved("isolated_hop_reset", reset)
    + pair("async", async, make: first)
    + pair("async_copy", asyncCopy, make: first)
    + pair("task_in_deinit", reset, make: task)

  private static let reset = DEINIT_MODE_RESET
  private static let copy = DEINIT_MODE_COPY
  private static let async = DEINIT_MODE_ASYNC
  private static let asyncCopy = DEINIT_MODE_ASYNC_COPY

  private static let plain: MakeNode = { gauge, _, left, right in NonisolatedNode(gauge, left, right) }
  private static let first: MakeNode = { gauge, _, left, right in FirstNode(gauge, left, right) }
  private static let task: MakeNode = { gauge, _, left, right in TaskNode(gauge, left, right) }
  private static let layers: MakeNode = { gauge, depth, left, right in
    depth % 2 == 0 ? FirstNode(gauge, left, right) : SecondNode(gauge, left, right)
  }

  private static func pair(
    _ name: String, _ mode: Int, on actor: (any Actor)? = nil, make: @escaping MakeNode
  ) -> [Benchmark] {
    [("array", Shape.array), ("tree", .tree)].map { suffix, shape in
      Benchmark(name: "\(name)_\(suffix)", mode: mode, releasedOn: actor, shape: shape, make: make)
    }
  }

  private static func interleaved(_ name: String, _ mode: Int) -> [Benchmark] {
    [Benchmark(name: "\(name)_tree_interleaved", mode: mode, releasedOn: nil, shape: .tree, make: layers)]
  }
}
