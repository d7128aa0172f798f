// What a row of the table is.

/// Does some work, and returns how many operations that was.
typealias Work = () -> Int

/// Makes a worker's work. It is called on the worker: what it makes is the worker's own.
typealias Maker = () -> Work

struct Row {
  let name: String
  /// What of the program the workers share; nil: nothing.
  let shares: String?
  /// Makes the makers for so many workers. It is called on the main thread: what it makes
  /// is made by the parent, and can be shared.
  let prepare: (Int) -> [Maker]

  /// A row in which each worker makes everything itself.
  static func own(_ name: String, _ maker: @escaping Maker) -> Row {
    Row(name: name, shares: nil) { workers in Array(repeating: maker, count: workers) }
  }

  static let all = searchRows + microRows

  /// Not in the table: for the test of a worker that dies.
  static let dying = Row(name: "test.dying", shares: nil) { workers in
    (0..<workers).map { _ in { fatalError("asked to die") } }
  }
}
