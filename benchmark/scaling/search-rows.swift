// The search, with more and more of it shared by the workers.

let searchRows = [
  Row.own("search") { work { Game(leaves: Game.makeLeaves(), config: .standard(), examine: makeExamine()) } },

  // Contexts of closures, made by the parent one after the other: several fit into one
  // cache line, although each belongs to one worker.
  Row(name: "search.parent-made", shares: "cache lines") { workers in
    let made = adjacent(workers, { Made(examine: makeExamine()) }, { $0.context })
    return made.map { made in
      { work { Game(leaves: Game.makeLeaves(), config: .standard(), examine: made.examine) } }
    }
  },

  Row(name: "search.shared-closure", shares: "a closure") { workers in
    let examine = makeExamine()
    return repeated(workers) { Game(leaves: Game.makeLeaves(), config: .standard(), examine: examine) }
  },

  Row(name: "search.shared-leaves", shares: "the leaves") { workers in
    let leaves = Game.makeLeaves()
    return repeated(workers) { Game(leaves: leaves, config: .standard(), examine: makeExamine()) }
  },

  Row(name: "search.shared-config", shares: "the rules") { workers in
    let config = Config.standard()
    return repeated(workers) { Game(leaves: Game.makeLeaves(), config: config, examine: makeExamine()) }
  },

  Row(name: "search.shared-all", shares: "all of it") { workers in
    let game = Game(leaves: Game.makeLeaves(), config: .standard(), examine: makeExamine())
    return repeated(workers) { game }
  },

  Row(name: "search.immortal", shares: "all, immortal") { workers in
    let game = Game(leaves: Game.makeLeaves(), config: .standard(), examine: makeExamine())
    for object in objects(of: game) { scaling_immortalize(object) }
    return repeated(workers) { game }
  },

  Row.own("search.cast") {
    work { Game(leaves: Game.makeLeaves(), config: .standard(), examine: { scored($0) == Game.target ? 1 : 0 }) }
  },

  Row.own("search.metadata") {
    work {
      Game(leaves: Game.makeLeaves(), config: .standard(), examine: { node in
        lookUpMetadata(node.value) == Game.target ? 1 : 0
      })
    }
  },
]

/// Makes the game on the worker, and searches it.
private func work(_ make: () -> Game) -> Work {
  let game = make()
  return { game.run() }
}

private func repeated(_ workers: Int, _ make: @escaping () -> Game) -> [Maker] {
  Array(repeating: { work(make) }, count: workers)
}

@inline(never)
private func makeExamine() -> Examine {
  // Not a constant: the closure has a context, which each step of the search retains.
  let target = Game.target
  let box = Node(target)
  return { $0.value == box.value ? 1 : 0 }
}

protocol Scored {
  var score: Int { get }
}

extension Node: Scored {
  var score: Int { value }
}

/// One cast to a protocol, which the compiler cannot see through.
@inline(never)
func scored(_ object: AnyObject) -> Int {
  (object as! any Scored).score
}

/// A closure in a structure, so that no generic function wraps it into another one.
private struct Made {
  let examine: Examine

  var context: UnsafeMutableRawPointer {
    withUnsafePointer(to: self) { pointer in
      UnsafeRawPointer(pointer).load(fromByteOffset: MemoryLayout<Int>.size, as: UnsafeMutableRawPointer.self)
    }
  }
}

/// Every object that the workers of a shared game refer to.
private func objects(of game: Game) -> [UnsafeMutableRawPointer] {
  [unsafeBitCast(game.leaves, to: UnsafeMutableRawPointer.self),
   unsafeBitCast(game.config.operators, to: UnsafeMutableRawPointer.self),
   Unmanaged.passUnretained(game.config).toOpaque(), Made(examine: game.examine).context]
    + game.leaves.map { Unmanaged.passUnretained($0).toOpaque() }
}
