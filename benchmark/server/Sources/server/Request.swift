// What a request does. Each part can be switched on alone.

import Foundation
import Logging

struct Parts: Sendable {
  /// How many task-locals a request binds, besides its ID.
  var bindings = 0
  /// How many nested spans it opens.
  var spans = 0
  var cache = false
  var children = 0
  var log = false
  var session = false
}

/// The context of distributed tracing: one task-local with a small dictionary, bound anew by each span.
struct Context: Sendable {
  @TaskLocal static var current: Context?
  var values: [String: String] = [:]
}

func withSpan<Result: Sendable>(_ name: String, _ body: () async throws -> Result) async rethrows -> Result {
  var context = Context.current ?? Context()
  context.values["parent"] = context.values["span"]
  context.values["span"] = name
  return try await Context.$current.withValue(context, operation: body)
}

enum Request {
  @TaskLocal static var id = ""
  /// What middleware binds: a user, a locale, a deadline and the like.
  static let keys = (0..<100).map { TaskLocal(wrappedValue: $0) }
}

actor Cache {
  private var entries: [Int: Int] = [:]
  private(set) var hits = 0

  func value(of key: Int) -> Int {
    if let found = entries[key] {
      hits += 1
      return found
    }
    if entries.count >= 1024 { entries.removeAll() }
    entries[key] = key &* 2_654_435_761
    return entries[key]!
  }
}

@globalActor actor Sessions {
  static let shared = Sessions()
  var closed = 0
}

final class Session: Sendable {
  let user: Int
  init(user: Int) { self.user = user }
}

@Sessions final class OpenSession {
  nonisolated(unsafe) static var closed = 0
  let session: Session
  nonisolated init(_ session: Session) { self.session = session }
  isolated deinit { OpenSession.closed += 1 }
}

/// A logger that writes nothing, whose metadata comes from task-locals.
let logger = Logger(
  label: "server",
  factory: { _ in
    var handler = Silent()
    handler.metadataProvider = Logger.MetadataProvider {
      ["request": "\(Request.id)", "span": "\(Context.current?.values["span"] ?? "")"]
    }
    return handler
  })

struct Silent: LogHandler {
  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?
  var logLevel = Logger.Level.info
  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }
  func log(level: Logger.Level, message: Logger.Message, metadata: Logger.Metadata?, source: String, file: String,
           function: String, line: UInt) {
    precondition(metadataProvider?.get()["request"] != nil)
  }
}

struct Answer: Codable, Sendable {
  var id: String
  var value: Int
  var sum: Int
  var tags: [String]
}

private let cache = Cache()

/// Binds `count` task-locals, then goes on with `body`.
private func bound<Result: Sendable>(
  _ count: Int, _ body: @Sendable () async throws -> Result
) async rethrows -> Result {
  if count == 0 { return try await body() }
  return try await Request.keys[count - 1].withValue(count) { try await bound(count - 1, body) }
}

private func spans<Result: Sendable>(
  _ count: Int, _ body: @Sendable () async throws -> Result
) async rethrows -> Result {
  if count == 0 { return try await body() }
  return try await withSpan("span-\(count)") { try await spans(count - 1, body) }
}

private func checksum(_ number: Int) -> Int {
  var state = UInt64(truncatingIfNeeded: number) | 1
  for _ in 0..<200 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
  }
  return Int(truncatingIfNeeded: state & 0xffff)
}

private func handle(_ number: Int, _ parts: Parts) async throws -> [UInt8] {
  var answer = Answer(id: Request.id, value: number, sum: 0, tags: ["one", "two"])
  if parts.session { _ = OpenSession(Session(user: number)) }
  if parts.log { Task { logger.info("request") } }
  if parts.cache { answer.value = await cache.value(of: number % 256) }
  if parts.children > 0 {
    answer.sum = await withTaskGroup(of: Int.self) { group in
      for child in 0..<parts.children { group.addTask { checksum(number + child) } }
      return await group.reduce(0, +)
    }
  } else {
    answer.sum = checksum(number)
  }
  return [UInt8](try JSONEncoder().encode(answer))
}

/// The body of the answer to request `number`.
func answer(_ number: Int, _ parts: Parts) async throws -> [UInt8] {
  if parts.bindings == 0 && parts.spans == 0 { return try await handle(number, parts) }
  return try await Request.$id.withValue("request-\(number)") {
    try await bound(parts.bindings) { try await spans(parts.spans) { try await handle(number, parts) } }
  }
}
