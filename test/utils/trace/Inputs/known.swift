// known [STATUS | wait]: a hundred requests ask an actor, one task waits for ever, one is cancelled in its sleep.

#if canImport(Glibc)
import Glibc
#endif

actor Database {
  var rows = 0

  func query() -> Int {
    if rows == 0 { usleep(50_000) }  // the others wait in the queue meanwhile
    rows += 1
    return rows
  }
}

@inline(never)
func serve(_ database: Database) async -> Int {
  let rows = await database.query()
  await Task.yield()
  return rows
}

@main
struct Known {
  static func main() async throws {
    let database = Database()
    let leaked = Task { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
    await withTaskGroup(of: Int.self) { group in
      for _ in 0..<100 { group.addTask { await serve(database) } }
    }
    let sleeper = Task { try? await Task.sleep(for: .seconds(1000)) }
    try await Task.sleep(for: .milliseconds(20))
    sleeper.cancel()
    await sleeper.value
    print("done")
    fflush(stdout)
    let arguments = CommandLine.arguments
    if arguments.last == "wait" {
      chdir("/")
      try await Task.sleep(for: .seconds(60))
    }
    _ = leaked
    exit(Int32(arguments.last!) ?? 0)
  }
}
