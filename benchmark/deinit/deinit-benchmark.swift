// Measures how long the deinit of many objects takes, and for how long it blocks
// the thread that releases them. README.md explains; run-benchmark.sh builds and runs it.

import Dispatch
import Synchronization
#if canImport(Darwin)
@preconcurrency import Darwin
#else
@preconcurrency import Glibc
#endif

/// Ends the program with an error that the user can mend. From any thread.
/// Status 3 is for a runtime that lacks what the benchmark measures.
func fail(_ message: String, hint: String, status: Int32 = 1) -> Never {
  fflush(nil)
  fputs("error: \(message)\nhint: \(hint)\n", stderr)
  _exit(status)
}

/// What is under way, for the thread that watches over hung points.
enum Progress {
  static let line = Atomic<Int>(0)
  static let deadline = Atomic<UInt64>(.max)
}

struct Run {
  var benchmark: Benchmark
  var points: [Point]
  var options: Options

  /// Measures all points and prints a line for each.
  func run() async {
    let keys = Keys(count: points.map(\.values).max() ?? 0)
    // The first deinits start threads, bind symbols and get memory: as much as the
    // largest points need, on every thread that may take part.
    let most = [points.max { $0.objects < $1.objects }!, points.max { $0.size < $1.size }!]
    for point in points.prefix(3) + most + most { _ = await attempt(point, keys) }
    print("# \(options.label ?? "\(benchmark.name) \(options.inputs) --ballast=\(options.ballast)")")
    print("#")
    print(options.withInputs ? "# values objects schedule(ns) total(ns)" : "# schedule(ns) total(ns)")
    for (index, point) in points.enumerated() {
      Progress.line.store(index + 1, ordering: .relaxed)
      let result = await measure(point, keys)
      let inputs = options.withInputs ? "\(point.values)\t\(point.objects)\t" : ""
      print("\(inputs)\(result.schedule)\t\(result.total)")
      fflush(stdout)
    }
  }

  /// Measures one point; again, for some time, if it was disturbed. The attempt
  /// that waited least for a core counts.
  private func measure(_ point: Point, _ keys: Keys) async -> Measurement {
    var best = await attempt(point, keys)
    let end = now() + options.retryTime * 1_000_000
    while best.isDisturbed && now() < end {
      // Who has slept is the last to lose its core.
      usleep(1000)
      let again = await attempt(point, keys)
      if again.waited < best.waited { best = again }
    }
    return best
  }

  private func attempt(_ point: Point, _ keys: Keys) async -> Measurement {
    Progress.deadline.store(now() + options.timeout * 1_000_000_000, ordering: .releasing)
    let result = await main.measure(point, benchmark, ballast: options.ballast, keys: keys, on: benchmark.releasedOn)
    // The last body has ended; nothing may be left when the next point begins.
    while Gauge.alive.load(ordering: .acquiring) > 0 || Payload.alive.load(ordering: .acquiring) > 0 {
      await Task.yield()
    }
    Progress.deadline.store(.max, ordering: .releasing)
    return result
  }

  /// Ends the program if the current point is overdue.
  func checkDeadline() {
    guard now() > Progress.deadline.load(ordering: .acquiring) else { return }
    let line = Progress.line.load(ordering: .relaxed)
    let point = points[max(line - 1, 0)]
    let remaining = Gauge.remaining.load(ordering: .acquiring)
    let state =
      if remaining > 0 { "\(remaining) deinit bodies have not run" }
      else if Gauge.alive.load(ordering: .acquiring) > 0 { "all deinit bodies ran, but some objects were not destroyed" }
      else { "all objects are gone, but some task-local value is still held" }
    fail(
      "\(benchmark.name) hangs at point \(max(line, 1)) (\(point.values) values, \(point.objects) objects): "
        + "\(state) after \(options.timeout) s",
      hint: "give a slow point more time with --timeout=SECONDS, or try another --runtime")
  }
}

@main struct Main {
  static func main() {
    deinit_keep_memory()
    let options = Options.parse(CommandLine.arguments.dropFirst())
    guard let benchmark = Benchmark.all.first(where: { $0.name == options.name }) else {
      fail("there is no benchmark '\(options.name)'", hint: "--list prints all of them")
    }
    requireMode(of: benchmark, options)
    let run = Run(benchmark: benchmark, points: readPoints(options.inputs), options: options)
    let finished = DispatchSemaphore(value: 0)
    Task.detached {
      await run.run()
      finished.signal()
    }
    // The main thread has nothing to do, and so can tell when the others hang.
    while finished.wait(timeout: .now() + .milliseconds(200)) == .timedOut { run.checkDeadline() }
  }

  private static func requireMode(of benchmark: Benchmark, _ options: Options) {
    let mode = Int32(benchmark.mode)
    if deinit_mode_supported(mode) != 0 { return deinit_set_mode(mode) }
    let isCopy = benchmark.mode == DEINIT_MODE_COPY
    let patch = isCopy ? "isolated-deinit-copy-task-locals" : "async-deinit"
    fail(
      "runtime '\(options.runtime)' cannot \(isCopy ? "copy task-locals in isolated deinit" : "run an async deinit")",
      hint: "use --runtime after (or upto:\(patch))",
      status: 3)
  }
}
