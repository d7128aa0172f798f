// RUN: %empty-directory(%t)
// RUN: %target-build-swift -O -parse-as-library -target %target-swift-6.2-abi-triple -Xfrontend -disable-availability-checking %s -o %t/load
// RUN: %target-codesign %t/load
// RUN: %target-run %t/load queued-deinits 200000
// RUN: %target-run %t/load tasks 10000
// RUN: %target-run %t/load threads 1000
// RUN: %target-run %t/load senders 200000

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// REQUIRES: libdispatch
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// It reads /proc.
// REQUIRES: OS=linux-gnu

// Puts a load on the runtime: prints the nanoseconds that it took for each operation, and
// the resident memory in KB when it begins, when all of it waits, at the end, and when malloc
// has given back what it keeps. Everything must have run once, and that last figure may be
// no more than 8 MB above the first.
//
//   concurrency-load ROW COUNT

import Dispatch
import Glibc
import Synchronization

@globalActor actor Target { static let shared = Target() }

final class Counter: Sendable {
  private let value = Atomic(0)
  func add() { value.add(1, ordering: .acquiringAndReleasing) }
  var count: Int { value.load(ordering: .acquiring) }
}

let ran = Counter()
let keys = (0..<100).map { _ in TaskLocal<Int>(wrappedValue: 0) }

final class Object: Sendable {
  @Target deinit { ran.add() }
}

func bind(_ count: Int, _ body: () -> Void) {
  if count == 0 { return body() }
  keys[count - 1].withValue(count) { bind(count - 1, body) }
}

/// Keeps the actor busy until `signal()`, so that what is enqueued on it waits.
func block() -> DispatchSemaphore {
  let begun = DispatchSemaphore(value: 0)
  let end = DispatchSemaphore(value: 0)
  Task.detached { @Target in
    begun.signal()
    end.wait()
  }
  begun.wait()
  return end
}

/// Calls `body` with 0..<count in threads, of which at most 64 run at the same time.
func inThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  final class Context: Sendable {
    let next = Atomic(0)
    let free = DispatchSemaphore(value: 64)
    let body: @Sendable (Int) -> Void
    init(_ body: @escaping @Sendable (Int) -> Void) { self.body = body }
  }
  let context = Context(body)
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
  for _ in 0..<count {
    context.free.wait()
    var thread = pthread_t()
    let status = pthread_create(&thread, &attributes, { argument in
      let context = Unmanaged<Context>.fromOpaque(argument!).takeRetainedValue()
      context.body(context.next.add(1, ordering: .relaxed).oldValue)
      context.free.signal()
      return nil
    }, Unmanaged.passRetained(context).toOpaque())
    precondition(status == 0)
  }
}

/// The rows: each does `count` operations, each of which counts in `ran` how often it says.
struct Row {
  let name: String
  /// For the tasks and deinits of one operation.
  var factor = 1
  /// Enqueues them all, and returns what lets the actor go on.
  let run: (_ count: Int) -> DispatchSemaphore?

  static let all = [
    // Isolated deinits that all wait for their actor.
    Row(name: "queued-deinits") { count in
      let end = block()
      var objects = (0..<count).map { _ in Object() }
      objects.removeAll()
      return end
    },
    // Tasks that wait for an actor, each of which has inherited 100 task-local values.
    Row(name: "tasks") { count in
      let end = block()
      bind(keys.count) {
        for _ in 0..<count {
          Task { @Target in
            precondition(keys[0].get() == 1 && keys[99].get() == 100)
            ran.add()
          }
        }
      }
      return end
    },
    // Threads that enqueue tasks and deinits, and exit.
    Row(name: "threads", factor: 12) { count in
      inThreads(count) { _ in
        bind(3) {
          for _ in 0..<10 { _ = Object() }
          for _ in 0..<2 { Task { ran.add() } }
        }
      }
      return nil
    },
    // 64 threads that enqueue deinits, and some tasks, on one actor at the same time.
    Row(name: "senders") { count in
      inThreads(64) { thread in
        for n in 0..<(count + thread) / 64 {
          if n % 16 == 15 {
            Task { @Target in ran.add() }
          } else {
            _ = Object()
          }
        }
      }
      return nil
    },
  ]
}

/// Kilobytes.
func residentMemory() -> Int {
  guard let file = fopen("/proc/self/statm", "r") else { return 0 }
  defer { fclose(file) }
  return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { line in
    // The second of the numbers is that of resident pages.
    guard fgets(line.baseAddress, 256, file) != nil,
      let second = strchr(line.baseAddress!, 32)
    else { return 0 }
    return Int(strtol(second, nil, 10)) * Int(getpagesize()) / 1024
  }
}

/// Whether malloc is that of the C library, and not a sanitizer's, which keeps what is freed.
let hasPlainMalloc = dlsym(nil, "__asan_init") == nil && dlsym(nil, "__tsan_init") == nil

func giveBackMemory() {
  typealias Trim = @convention(c) (Int) -> Int32
  if let trim = dlsym(nil, "malloc_trim") { _ = unsafeBitCast(trim, to: Trim.self)(0) }
}

func run(_ row: Row, _ count: Int) -> (waiting: Int, time: Duration) {
  let all = ran.count + count * row.factor
  let clock = ContinuousClock()
  let start = clock.now
  let end = row.run(count)
  let waiting = residentMemory()
  end?.signal()
  while ran.count < all {
    if clock.now > start + .seconds(240) {
      print("\(all - ran.count) have not run")
      exit(1)
    }
    usleep(100)
  }
  let time = clock.now - start
  // What has run twice, has run soon after; and the last object is freed.
  usleep(20_000)
  precondition(ran.count == all, "\(ran.count - all) have run twice")
  return (waiting, time)
}

@main struct Main {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    guard let row = Row.all.first(where: { $0.name == arguments.first }), arguments.count == 2,
      let count = Int(arguments.last!), count > 0
    else {
      print("usage: concurrency-load \(Row.all.map(\.name).joined(separator: "|")) COUNT")
      exit(2)
    }
    // What is set up once; first of all by one thread, because ThreadSanitizer does not see
    // that others find the metadata of types by an address.
    _ = run(row, 1)
    _ = run(row, 64)
    let start = residentMemory()
    let (waiting, time) = run(row, count)
    let nanoseconds = time.components.seconds * 1_000_000_000
      + time.components.attoseconds / 1_000_000_000
    let end = residentMemory()
    giveBackMemory()
    let rest = residentMemory()
    print(row.name, count, nanoseconds / Int64(count), start, waiting, end, rest)
    // Malloc's arenas hold some: without the series up to 4 MB on four processors.
    if hasPlainMalloc && rest > start + 8192 {
      print("\(rest - start) KB are left")
      exit(1)
    }
  }
}
