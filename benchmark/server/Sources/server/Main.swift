// server http [bindings=N] [spans=N] [children=N] [cache] [log] [session] [port=N]
// server echo [port=N]
// server row NAME COUNT       does it COUNT times, then says how long that took
// server --list               the names of the rows

import Foundation

private func fail(_ text: String) -> Never {
  FileHandle.standardError.write(Data("error: \(text)\n".utf8))
  exit(2)
}

/// What this process has used so far, as JSON.
func stats() -> String {
  var usage = rusage()
  getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
  let cpu = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1_000_000 + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec
  // Not ru_maxrss: that of the program which was in this process before is kept in it.
  let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
  let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }?.split(whereSeparator: { " \t".contains($0) })
  let rss = peak.flatMap { $0.count > 1 ? Int($0[1]) : nil } ?? 0
  return #"{"cpu_us": \#(cpu), "voluntary": \#(usage.ru_nvcsw), "rss_kb": \#(rss)}"#
}

@main struct Main {
  static func main() async throws {
    var words = CommandLine.arguments.dropFirst()
    switch words.popFirst() {
    case "http", "echo":
      let mode = CommandLine.arguments[1]
      var parts = Parts()
      var port = 0
      for word in words {
        let pair = word.split(separator: "=", maxSplits: 1)
        let number = pair.count == 2 ? Int(pair[1]) : 1
        guard let number, number >= 0 else { fail("\(word): not a number") }
        switch pair[0] {
        case "bindings" where number <= 100: parts.bindings = number
        case "spans": parts.spans = number
        case "children": parts.children = number
        case "cache": parts.cache = true
        case "log": parts.log = true
        case "session": parts.session = true
        case "port": port = number
        default: fail("unknown part \(word)")
        }
      }
      // A line on standard input asks for the counts; the end of it ends the server.
      Thread.detachNewThread {
        while readLine() != nil {
          print(stats())
          fflush(stdout)
        }
        exit(0)
      }
      do {
        if mode == "http" { try await serveHTTP(parts, port: port) } else { try await serveEcho(port: port) }
      } catch {
        fail("\(error)")
      }
    case "row":
      guard let name = words.popFirst(), let row = rows.first(where: { $0.name == name }),
        let count = words.popFirst().flatMap({ Int($0) }), count > 0
      else { fail("row NAME COUNT") }
      _ = try await row.run(max(64, count / 10))
      let clock = ContinuousClock()
      let before = stats()
      var found = 0
      let time = try await clock.measure { found = try await row.run(count) }
      guard found >= count - 1, found <= count * 2 else { fail("\(name): \(found) instead of \(count)") }
      let ns = time.components.seconds * 1_000_000_000 + time.components.attoseconds / 1_000_000_000
      print(#"{"before": \#(before), "after": \#(stats()), "ns": \#(ns)}"#)
    case "--list":
      for row in rows { print("\(row.name)\t\(row.text)") }
    default:
      fail("http, echo, row or --list")
    }
  }
}
