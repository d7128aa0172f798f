// How tests of the global executor's threads name their parts, wait, and judge times.

import Dispatch
import Glibc
import Synchronization

let processors = Int(processorCount())

/// How many threads the pool has.
let width = getenv("SWIFT_POOL_WIDTH").flatMap { Int(String(cString: $0)) } ?? processors

final class Counter: Sendable {
  private let value = Atomic(0)
  @discardableResult func add(_ n: Int = 1) -> Int {
    value.add(n, ordering: .acquiringAndReleasing).newValue
  }
  var count: Int { value.load(ordering: .acquiring) }
}

/// Whether something has happened.
final class Flag: Sendable {
  private let value = Atomic(false)
  func set() { value.store(true, ordering: .releasing) }
  var isSet: Bool { value.load(ordering: .acquiring) }
}

let failures = Counter()
/// How often times were too long, or counts too low.
let tooSlow = Counter()

/// Of a test without rows, which judges each time once.
var isAllRight: Bool { failures.count + tooSlow.count == 0 }

func fail(_ text: String) {
  if failures.add() <= 20 { print("FAILED: \(text)") }
}

func expect(_ condition: Bool, _ text: @autoclosure () -> String) {
  if !condition { fail(text()) }
}

/// For what may fail while other programs have the processors: not in each of three runs of the row.
func expectMostly(_ condition: Bool, _ text: @autoclosure () -> String) {
  if !condition {
    print("NOT SO: \(text())")
    tooSlow.add()
  }
}

/// Computes for so many nanoseconds; what the thread waits for a processor counts, too.
func compute(_ nanoseconds: UInt64) {
  let end = nowInNanoseconds() + nanoseconds
  while nowInNanoseconds() < end {}
}

/// What `body` takes, in nanoseconds.
func time(_ body: () -> Void) -> UInt64 {
  let start = nowInNanoseconds()
  body()
  return nowInNanoseconds() - start
}

/// Waits until it is true, at most a minute.
func wait(for what: String, _ condition: () -> Bool) {
  let end = nowInNanoseconds() + 60_000_000_000
  while !condition() {
    if nowInNanoseconds() > end { return fail("\(what) did not happen within a minute") }
    usleep(200)
  }
}

/// DispatchSemaphore.wait is not available in asynchronous functions.
func waitFor(_ semaphore: DispatchSemaphore) { semaphore.wait() }

/// How often threads of this process have waited in the kernel.
func waitsInKernel() -> Int {
  var usage = rusage()
  getrusage(0 /* RUSAGE_SELF */, &usage)
  return usage.ru_nvcsw
}

/// By how much limits are longer: other programs take time where some have run lately, and the more so
/// if there are more than processors.
let room: Double = {
  var load = [0.0]
  return getloadavg(&load, 1) == 1 && load[0] > 0.5 ? 4 * max(1, load[0] / Double(processors)) : 1
}()

/// Prints times, and fails if they are too long in each of three runs of the row. The limits are in milliseconds. They
/// stand between what the executor promises and what its faults take, on an idle
/// machine: `median` is what may not become the rule, and `worst` a hang. `fault` is what the fault takes at least: no
/// load makes a limit longer.
func judge(_ name: String, _ times: [UInt64], median: Double, worst: Double, fault: Double = .infinity) {
  let sorted = times.sorted().map { Double($0) / 1e6 }
  guard let last = sorted.last else { return fail("\(name): no times") }
  let middle = sorted[sorted.count / 2]
  print("\(name): median \(middle) ms, worst \(last) ms, \(sorted.count) times")
  for (what, found, idle) in [("median", middle, median), ("worst", last, worst)] {
    let limit = min(idle * room, 0.9 * fault)
    if found <= limit { continue }
    print("TOO SLOW: \(name): the \(what) is \(found) ms, not \(limit)")
    tooSlow.add()
  }
}

/// The processor time of this thread in nanoseconds.
func threadTime() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// How long a new job waits until it begins, `count` times, seen by this thread, which is
/// not the executor's.
func waits(_ priority: TaskPriority? = nil, _ count: Int, pause: UInt32 = 500) -> [UInt64] {
  (0..<count).map { _ in
    usleep(pause)
    let begun = DispatchSemaphore(value: 0)
    return time {
      Task.detached(priority: priority) { begun.signal() }
      begun.wait()
    }
  }
}

/// Runs `body` in a new thread.
func startThread(_ body: @escaping @Sendable () -> Void) -> pthread_t {
  final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var thread = pthread_t()
  let status = pthread_create(&thread, nil, { argument in
    Unmanaged<Box>.fromOpaque(argument!).takeRetainedValue().body()
    return nil
  }, Unmanaged.passRetained(Box(body)).toOpaque())
  precondition(status == 0)
  return thread
}

/// Runs `count` threads until all have ended.
func inThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let threads = (0..<count).map { number in startThread { body(number) } }
  for thread in threads { pthread_join(thread, nil) }
}

/// Runs `body` beside threads that compute, four for each processor.
func besideThreads<Result>(_ body: () -> Result) -> Result {
  let ended = Flag()
  let threads = (0..<4 * processors).map { _ in startThread { while !ended.isSet {} } }
  let result = body()
  ended.set()
  for thread in threads { pthread_join(thread, nil) }
  return result
}

/// Waits for an asynchronous function, from a thread that is not the executor's.
func runBlocking(_ priority: TaskPriority? = nil, _ body: @escaping @Sendable () async -> Void) {
  let end = DispatchSemaphore(value: 0)
  Task.detached(priority: priority) {
    await body()
    end.signal()
  }
  end.wait()
}

struct Row {
  let name: String
  var seconds: Int32 = 60
  let body: () -> Void

  /// Runs those of `rows` that the command line names, or all but those that it names with a -,
  /// until one fails, and exits.
  static func run(_ rows: [Row]) -> Never {
    // What that holds is freed before the exit, when leaks are looked for.
    runChosen(rows)
    exit(failures.count == 0 ? 0 : 1)
  }

  @inline(never) private static func runChosen(_ rows: [Row]) {
    setvbuf(stdout, nil, _IOLBF, 0)
    let given = CommandLine.arguments.dropFirst()
    let chosen = given.filter { !$0.hasPrefix("-") }
    let leftOut = given.filter { $0.hasPrefix("-") }.map { String($0.dropFirst()) }
    for name in chosen + leftOut where !rows.contains(where: { $0.name == name }) {
      fail("there is no row \(name)")
    }
    for row in rows where (chosen.isEmpty || chosen.contains(row.name)) && !leftOut.contains(row.name) {
      // Another program may have the processors for a while.
      for attempt in 1...3 {
        let slow = tooSlow.count
        watch(row.name, row.seconds)
        row.body()
        if failures.count > 0 || tooSlow.count == slow { break }
        if attempt == 3 { fail("\(row.name): too slow, or not so, three times") }
      }
      print("\(row.name): ended")
      if failures.count > 0 { break }
    }
  }
}

/// Tasks run, even if they block each other, as far as that is possible with one thread.
func expectWork(_ name: String) {
  let ran = Counter()
  for number in 0..<2000 {
    Task.detached(priority: [.high, .medium, .background][number % 3]) {
      await Task.yield()
      await Task {}.value
      ran.add()
    }
  }
  wait(for: "tasks, \(name)") { ran.count == 2000 }
}

/// Runs this program with these arguments in a process of its own.
func startAgain(_ arguments: String...) {
  var words = ([CommandLine.arguments[0]] + arguments).map { UnsafePointer(strdup($0)) }
  words.append(nil)
  let status = runProcess(words)
  expect(status == 0, "\(arguments): status \(status)")
}
