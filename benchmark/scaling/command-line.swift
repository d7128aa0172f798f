// The command line: scaling-benchmark ROW [--as=threads|tasks] [--workers=N] …
// run-benchmark calls it; a line for each worker comes back.

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

func fail(_ message: String, hint: String) -> Never {
  fputs("error: \(message)\nhint: \(hint)\n", stderr)
  exit(1)
}

@main
struct Main {
  static let usage = "scaling-benchmark ROW [--as=threads|tasks] [--workers=N] [--processors=A,B] "
    + "[--start=NANOSECONDS] [--milliseconds=N]; --list prints the rows"

  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    if arguments.first == "--list" {
      for row in Row.all { print(row.name, row.shares ?? "nothing", separator: "\t") }
      return
    }
    let plan = parse(Array(arguments))
    print("library", String(cString: machine_library("swift_retain")), separator: "\t")
    fflush(stdout)
    for outcome in measure(plan) {
      print(outcome.operations, outcome.elapsed, outcome.waited, outcome.late ? 1 : 0, separator: "\t")
    }
  }

  static func parse(_ arguments: [String]) -> Plan {
    guard let name = arguments.first, let row = (Row.all + [Row.dying]).first(where: { $0.name == name }) else {
      fail("no such row: \(arguments.first ?? "")", hint: usage)
    }
    var plan = Plan(row: row)
    for argument in arguments.dropFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
      switch (parts[0], parts.count > 1 ? parts[1] : "") {
      case ("--as", "threads"): plan.asTasks = false
      case ("--as", "tasks"): plan.asTasks = true
      case ("--workers", let value) where Int(value) ?? 0 > 0: plan.workers = Int(value)!
      case ("--processors", let value): plan.processors = value.split(separator: ",").compactMap { Int32($0) }
      case ("--start", let value) where UInt64(value) != nil: plan.start = UInt64(value)!
      case ("--milliseconds", let value) where UInt64(value) ?? 0 > 0: plan.duration = UInt64(value)! * 1_000_000
      default: fail("cannot understand '\(argument)'", hint: usage)
      }
    }
    return plan
  }
}
