// The command line and the inputs file.

#if canImport(Darwin)
@preconcurrency import Darwin
#else
@preconcurrency import Glibc
#endif

struct Options: Sendable {
  static let usage = "Usage: deinit-benchmark BENCHMARK_NAME INPUTS_FILE [--ballast=N]"

  var name = ""
  var inputs = ""
  var ballast = 0
  /// Seconds for one point.
  var timeout: UInt64 = 60
  /// Milliseconds for measuring a point again while it is disturbed.
  var retryTime: UInt64 = 100
  /// The first line of the output; nil: benchmark, inputs file and ballast.
  var label: String?
  /// Whether each line of the output repeats values and objects of its point.
  var withInputs = false
  /// The name by which messages call the loaded runtime.
  var runtime = "loaded"

  static func parse(_ arguments: ArraySlice<String>) -> Options {
    var options = Options()
    var positional: [String] = []
    for argument in arguments {
      let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
      switch (parts.first ?? "", parts.count > 1 ? parts[1] : nil) {
      case ("--list", nil):
        for benchmark in Benchmark.all { print(benchmark.name) }
        exit(0)
      case ("--help", nil), ("-h", nil):
        print(usage)
        exit(0)
      case ("--ballast", let value?) where Int(value) ?? -1 >= 0: options.ballast = Int(value)!
      case ("--timeout", let value?) where (1...86400).contains(Int(value) ?? 0): options.timeout = UInt64(value)!
      case ("--retry-ms", let value?) where (0...100_000).contains(Int(value) ?? -1): options.retryTime = UInt64(value)!
      case ("--label", let value?): options.label = value
      case ("--runtime", let value?): options.runtime = value
      case ("--with-inputs", nil): options.withInputs = true
      case _ where !argument.hasPrefix("-"): positional.append(argument)
      default: fail("cannot understand '\(argument)'", hint: usage)
      }
    }
    guard positional.count == 2 else { fail("a benchmark and an inputs file are needed", hint: usage) }
    (options.name, options.inputs) = (positional[0], positional[1])
    return options
  }
}

/// Reads `values objects` lines; '#' begins a comment line.
func readPoints(_ path: String) -> [Point] {
  let hint = "gen-points.py makes inputs files"
  guard freopen(path, "r", stdin) != nil else { fail("cannot read \(path)", hint: hint) }
  var points: [Point] = []
  var number = 0
  while let line = readLine() {
    number += 1
    if line.isEmpty || line.hasPrefix("#") { continue }
    let fields = line.split(whereSeparator: \.isWhitespace).map { Int($0) }
    guard fields.count == 2, let values = fields[0], let objects = fields[1],
      (0...10_000).contains(values), objects >= 1
    else {
      fail("\(path), line \(number): not a point: \(line)", hint: "a line has two numbers: 0 to 10000 values, at least 1 object")
    }
    points.append(Point(values: values, objects: objects))
  }
  if points.isEmpty { fail("\(path) has no points", hint: hint) }
  return points
}
