// Rows of the executor benchmark: one process measures one row.

import Dispatch
import Glibc
import Synchronization

/// A row: what it measures, how many operations, and the names of its figures. It runs on the
/// main actor; `count` operations are done twice, first for a tenth.
struct Row: Sendable {
  let name: String
  let text: String
  var count = 100_000
  let run: @MainActor @Sendable (Int) async -> Figures
}

typealias Figures = [(name: String, value: Double)]

/// Wall and processor time since it was made.
struct Stopwatch {
  let start = machine_now(), used = executor_process_time()

  /// Of each of `count` operations, in nanoseconds.
  func figures(_ count: Int) -> Figures {
    let wall = machine_now() - start, cpu = executor_process_time() - used
    return [("wall", Double(wall) / Double(count)), ("cpu", Double(cpu) / Double(count))]
  }
}

/// The figures of `count` operations, where the caller is.
func measure(
  _ count: Int, isolation: isolated (any Actor)? = #isolation, _ body: () async -> Void
) async -> Figures {
  let watch = Stopwatch()
  await body()
  return watch.figures(count)
}

/// Quantiles of times in nanoseconds.
func quantiles(_ times: [UInt64]) -> Figures {
  let sorted = times.sorted()
  func at(_ part: Double) -> Double { Double(sorted[Int(Double(sorted.count - 1) * part)]) }
  return [("p50", at(0.5)), ("p99", at(0.99))]
}

/// By a task of the pool, which this waits for.
@discardableResult
func onPool<Result: Sendable>(_ body: @escaping @Sendable () async -> Result) async -> Result {
  await Task.detached { await body() }.value
}

/// A function of the pool that the optimizer keeps.
@inline(never) func hop() async -> Int {
  executor_pause()
  return 1
}

func compute(_ nanoseconds: UInt64) {
  let end = machine_now() + nanoseconds
  while machine_now() < end {}
}

let counter = Atomic(0)

@globalActor actor Target { static let shared = Target() }

final class Object: Sendable {
  @Target deinit { counter.add(1, ordering: .releasing) }
}

/// Objects that live until they are released: the optimizer would release those of a local
/// variable before the clock is read.
final class Objects {
  private var objects: [Object]
  @inline(never) init(_ count: Int) { objects = (0..<count).map { _ in Object() } }
  @inline(never) func release() { objects = [] }
}

final class Box<Value: Sendable>: Sendable {
  let value: Mutex<Value>
  init(_ value: sending Value) { self.value = Mutex(value) }
}

/// The task runs when the thread resumes it: the thread tells the time, and spins.
@MainActor func resumeByThread(_ count: Int) async -> Figures {
  final class State: Sendable {
    let waiting = Mutex<UnsafeContinuation<Void, Never>?>(nil)
    let resumed = Atomic<UInt64>(0)
    let isEnded = Atomic(false)
  }
  let state = State()
  let thread = Thread {
    while !state.isEnded.load(ordering: .acquiring) {
      guard let own = state.waiting.withLock({ $0.take() }) else {
        executor_pause()
        continue
      }
      // The task has suspended by then.
      compute(2000)
      state.resumed.store(machine_now(), ordering: .releasing)
      own.resume()
    }
  }
  let used = executor_process_time()
  let times = await onPool {
    var found: [UInt64] = []
    found.reserveCapacity(count)
    for _ in 0..<count {
      await withUnsafeContinuation { own in state.waiting.withLock { $0 = own } }
      found.append(machine_now() - state.resumed.load(ordering: .acquiring))
    }
    return found
  }
  state.isEnded.store(true, ordering: .releasing)
  thread.join()
  let cpu = Double(executor_process_time() - used) / Double(count)
  return quantiles(times) + [("cpu", cpu)]
}

/// A thread adds jobs to the main actor, which is in a job meanwhile: an operation is one of them, for the thread.
@MainActor func addToMain(_ count: Int) async -> Figures {
  // From now on the first thread waits for the queue.
  await onPool {}
  let figures = Box<Figures>([])
  let thread = Thread {
    let watch = Stopwatch()
    for _ in 0..<count { Task { @MainActor in counter.add(1, ordering: .relaxed) } }
    figures.value.withLock { $0 = watch.figures(count) }
  }
  thread.join()
  return figures.value.withLock { $0 }
}

/// How long a block of a global queue waits behind 1,000 tasks that compute for 20 us.
@MainActor func blockBehindTasks(_ count: Int) async -> Figures {
  let begun = DispatchSemaphore(value: 0)
  return quantiles((0..<max(1, count / 10)).flatMap { _ in
    let tasks = DispatchGroup()
    for _ in 0..<1000 {
      tasks.enter()
      Task.detached {
        compute(20_000)
        tasks.leave()
      }
    }
    let times = (0..<10).map { _ in
      let start = machine_now()
      DispatchQueue.global().async { begun.signal() }
      begun.wait()
      return machine_now() - start
    }
    tasks.wait()
    return times
  })
}

/// A thread computes, and adds a task that computes for 1 us after each `gap` nanoseconds: processor time of the
/// other threads for each task.
@MainActor func addTasks(_ count: Int, every gap: UInt64) async -> Figures {
  await withUnsafeContinuation { own in
    _ = Thread {
      let used = executor_process_time() - executor_thread_time()
      var next = machine_now()
      for _ in 0..<count {
        next += gap
        while machine_now() < next {}
        Task.detached { compute(1000) }
      }
      let all = executor_process_time() - executor_thread_time() - used
      own.resume(returning: [("cpu", Double(all) / Double(count))])
    }
  }
}

/// Requests that come by a block of a queue of Dispatch, one at a time from each of `clients`: the
/// block resumes the task, which runs four children. An operation is a request.
func request(_ count: Int, clients: Int, _ queue: @escaping @Sendable () -> DispatchQueue) async {
  await withTaskGroup(of: Void.self) { group in
    for _ in 0..<clients {
      group.addTask {
        let queue = queue()
        for _ in 0..<count / clients {
          await withUnsafeContinuation { own in queue.async { own.resume() } }
          await withTaskGroup(of: Void.self) { children in
            for _ in 0..<4 { children.addTask { compute(7000) } }
          }
        }
      }
    }
  }
}

/// A task resumes four that wait for an element of a stream, each of which computes for some time, and waits
/// for all. An operation is a round.
func resumeFour(_ count: Int, _ nanoseconds: UInt64) async {
  let (done, isDone) = AsyncStream<Void>.makeStream()
  let streams = (0..<4).map { _ in AsyncStream<Void>.makeStream() }
  await withTaskGroup(of: Void.self) { group in
    for stream in streams {
      group.addTask {
        for await _ in stream.stream {
          compute(nanoseconds)
          isDone.yield()
        }
      }
    }
    var ended = done.makeAsyncIterator()
    for _ in 0..<count {
      for stream in streams { stream.continuation.yield() }
      for _ in streams { _ = await ended.next() }
    }
    for stream in streams { stream.continuation.finish() }
  }
}

final class Thread {
  private var thread = pthread_t()

  init(_ body: @escaping @Sendable () -> Void) {
    final class Body: Sendable {
      let run: @Sendable () -> Void
      init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
    let status = pthread_create(&thread, nil, { argument in
      Unmanaged<Body>.fromOpaque(argument!).takeRetainedValue().run()
      return nil
    }, Unmanaged.passRetained(Body(body)).toOpaque())
    precondition(status == 0)
  }

  func join() { pthread_join(thread, nil) }
}

/// Elements go to one task and come back: an operation is one way.
func passElements(_ count: Int) async {
  let (there, sendThere) = AsyncStream<Int>.makeStream()
  let (back, sendBack) = AsyncStream<Int>.makeStream()
  let other = Task.detached {
    for await number in there { sendBack.yield(number) }
  }
  var returned = back.makeAsyncIterator()
  for number in 0..<count / 2 {
    sendThere.yield(number)
    _ = await returned.next()
  }
  sendThere.finish()
  await other.value
}

/// Elements go through three streams, each with a task.
/// Elements go through `stages` streams, each with a task that computes for some time for each. The first one
/// gives way after every `batch` elements, so that it is never ahead by more than a few.
func pipe(_ count: Int, stages: Int = 3, batch: Int = 64, _ nanoseconds: UInt64 = 0) async {
  await withTaskGroup(of: Void.self) { group in
    var (stream, continuation) = AsyncStream<Int>.makeStream()
    group.addTask { [continuation] in
      for number in 0..<count {
        continuation.yield(number)
        if number % batch == batch - 1 { await Task.yield() }
      }
      continuation.finish()
    }
    for _ in 1..<stages {
      let input = stream
      (stream, continuation) = AsyncStream<Int>.makeStream()
      group.addTask { [continuation] in
        for await number in input {
          if nanoseconds > 0 { compute(nanoseconds) }
          continuation.yield(number &+ 1)
        }
        continuation.finish()
      }
    }
    for await _ in stream {}
  }
}

/// Tasks that each add a block to a global queue, which computes and resumes the task, which computes, too.
func passBlocks(_ count: Int, tasks: Int, _ nanoseconds: UInt64) async {
  await withTaskGroup(of: Void.self) { group in
    for _ in 0..<tasks {
      group.addTask {
        for _ in 0..<count / tasks {
          await withUnsafeContinuation { own in
            DispatchQueue.global().async {
              compute(nanoseconds)
              own.resume()
            }
          }
          compute(nanoseconds)
        }
      }
    }
  }
}

/// Tasks that do this work and give way. An operation is a turn of one of them.
func giveWay(_ count: Int, tasks: Int, _ work: @escaping @Sendable () -> Void) async {
  await withTaskGroup(of: Void.self) { group in
    for _ in 0..<tasks {
      group.addTask {
        for _ in 0..<count / tasks {
          work()
          await Task.yield()
        }
      }
    }
  }
}

func tree(_ number: Int, _ size: Int) async -> Int {
  if size == 1 { return number }
  return await withTaskGroup(of: Int.self) { group in
    for i in 0..<10 { group.addTask { await tree(number + i * (size / 10), size / 10) } }
    return await group.reduce(0, +)
  }
}

/// What releases objects with isolated deinits, `batch` at a time, takes for each.
struct Deinits {
  private var schedule: UInt64 = 0, total: UInt64 = 0, count = 0
  private let used = executor_process_time()

  /// Releases a batch; returns when it began, and how many deinits there are afterwards.
  private mutating func release(_ batch: Int) -> (start: UInt64, after: Int) {
    let before = counter.load(ordering: .acquiring)
    let objects = Objects(batch)
    let start = machine_now()
    objects.release()
    schedule += machine_now() - start
    count += batch
    return (start, before + batch)
  }

  /// The thread goes on until they have run.
  mutating func andGoOn(_ batch: Int) {
    let (start, after) = release(batch)
    while counter.load(ordering: .acquiring) < after { executor_pause() }
    total += machine_now() - start
  }

  /// The job suspends, and comes back when they have run.
  mutating func andSuspend(_ batch: Int) async {
    let (start, after) = release(batch)
    await Target.run()
    precondition(counter.load(ordering: .acquiring) == after)
    total += machine_now() - start
  }

  var figures: Figures {
    let cpu = executor_process_time() - used
    return [("schedule", Double(schedule) / Double(count)), ("wall", Double(total) / Double(count)),
            ("cpu", Double(cpu) / Double(count))]
  }
}

extension Target {
  static func run() async { await shared.run() }
  private func run() { executor_pause() }
}

enum Releaser { case job, suspendingJob, thread }

@MainActor func deinits(_ batch: Int, _ count: Int, by releaser: Releaser) async -> Figures {
  let rounds = max(1, count / batch)
  let goOn: @Sendable () -> Figures = {
    var deinits = Deinits()
    for _ in 0..<rounds { deinits.andGoOn(batch) }
    return deinits.figures
  }
  switch releaser {
  case .thread: return await onThread(goOn)
  case .job: return await onPool { goOn() }
  case .suspendingJob:
    return await onPool {
      var deinits = Deinits()
      for _ in 0..<rounds { await deinits.andSuspend(batch) }
      return deinits.figures
    }
  }
}

/// A sleep while nothing else happens: how late it ends, and what it costs.
@MainActor func sleep(_ milliseconds: Int, _ count: Int) async -> Figures {
  let used = executor_process_time()
  let times = await onPool {
    var found: [UInt64] = []
    for _ in 0..<count {
      let start = machine_now()
      try? await Task.sleep(for: .milliseconds(milliseconds), tolerance: .zero)
      let late = machine_now() - start - UInt64(milliseconds) * 1_000_000
      found.append(late)
    }
    return found
  }
  let cpu = Double(executor_process_time() - used) / Double(count)
  return quantiles(times) + [("cpu", cpu)]
}

/// Two tasks, each of which resumes the other and suspends, until they are told to end.
final class Pair: Sendable {
  private let waiting = Mutex<UnsafeContinuation<Void, Never>?>(nil)
  private let isEnded = Atomic(false)
  private let left = Atomic(2)

  init() {
    for _ in 0..<2 {
      Task.detached { [self] in
        while !isEnded.load(ordering: .acquiring) {
          await withUnsafeContinuation { (own: UnsafeContinuation<Void, Never>) in
            waiting.withLock { waiting in
              defer { waiting = own }
              return waiting.take()
            }?.resume()
          }
        }
        left.subtract(1, ordering: .releasing)
      }
    }
  }

  func end() {
    isEnded.store(true, ordering: .releasing)
    while left.load(ordering: .acquiring) > 0 {
      waiting.withLock { $0.take() }?.resume()
      usleep(100)
    }
  }
}

/// How long new jobs of another thread wait until they begin.
func waits(_ priority: TaskPriority?, _ count: Int, pause: UInt32 = 300) -> Figures {
  quantiles((0..<count).map { _ in
    usleep(pause)
    let ended = DispatchSemaphore(value: 0)
    let start = machine_now()
    let box = Box<UInt64>(0)
    Task.detached(priority: priority) {
      let now = machine_now()
      box.value.withLock { $0 = now }
      ended.signal()
    }
    ended.wait()
    return box.value.withLock { $0 } - start
  })
}

/// Requests of a thread, each 0.1 ms after the one before: how long they take.
func answer(_ count: Int, _ request: @escaping @Sendable () async -> Void) -> Figures {
  let used = executor_process_time()
  let times = (0..<count).map { _ in
    usleep(100)
    let ended = DispatchSemaphore(value: 0)
    let start = machine_now()
    Task.detached {
      await request()
      ended.signal()
    }
    ended.wait()
    return machine_now() - start
  }
  return quantiles(times) + [("cpu", Double(executor_process_time() - used) / Double(count))]
}

/// The same for jobs of this class, while others of that length keep all processors busy.
@MainActor func waits(
  _ priority: TaskPriority, beside others: TaskPriority, _ length: UInt64, _ count: Int, pause: UInt32 = 300
) async -> Figures {
  let isEnded = Box(false)
  for _ in 0..<2 * processors {
    Task.detached(priority: others) {
      while !isEnded.value.withLock({ $0 }) {
        compute(length)
        await Task.yield()
      }
    }
  }
  let figures = await onThread { waits(priority, count, pause: pause) }
  isEnded.value.withLock { $0 = true }
  return figures
}

/// Takes so much processor time, however many threads share the processor.
func use(_ nanoseconds: Int) {
  func used() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }
  let end = used() + nanoseconds
  while used() < end {}
}

/// Jobs of this class that block for 0.3 ms, beside default ones that compute for as long. `beside`
/// is of these.
@MainActor func blockBesideDefault(_ priority: TaskPriority, _ count: Int) async -> Figures {
  let isEnded = Atomic(false)
  let left = Atomic(count), computed = Atomic(0), running = Atomic(16)
  let watch = Stopwatch()
  for number in 0..<16 {
    Task.detached(priority: number % 2 == 0 ? priority : .medium) {
      while !isEnded.load(ordering: .relaxed) {
        if number % 2 == 0 {
          usleep(300)
          if left.subtract(1, ordering: .relaxed).newValue <= 0 { isEnded.store(true, ordering: .relaxed) }
        } else {
          use(300_000)
          computed.add(1, ordering: .relaxed)
        }
        await Task.yield()
      }
      running.subtract(1, ordering: .releasing)
    }
  }
  let figures = await onThread {
    while !isEnded.load(ordering: .relaxed) { usleep(1000) }
    let beside = watch.figures(max(1, computed.load(ordering: .relaxed)))[0].value
    return watch.figures(count) + [("beside", beside)]
  }
  while running.load(ordering: .acquiring) > 0 { try? await Task.sleep(for: .milliseconds(1)) }
  return figures
}

let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))

/// Jobs that block until one more runs, which comes last.
func blocked(_ jobs: Int, _ rounds: Int) -> Figures {
  quantiles((0..<rounds).map { _ in
    let begin = DispatchSemaphore(value: 0), ended = DispatchSemaphore(value: 0)
    let start = machine_now()
    for _ in 0..<jobs {
      Task.detached {
        begin.wait()
        ended.signal()
      }
    }
    Task.detached { for _ in 0..<jobs { begin.signal() } }
    for _ in 0..<jobs { ended.wait() }
    return machine_now() - start
  })
}

/// A job that makes one and blocks until that has run, each time after so many tasks that it awaits.
@MainActor func blockedOnChild(_ count: Int, after tasks: Int) async -> Figures {
  await onPool {
    var times: [UInt64] = []
    for _ in 0..<count {
      for _ in 0..<tasks { await Task {}.value }
      times.append(blockOnChild())
    }
    return quantiles(times)
  }
}

func blockOnChild() -> UInt64 {
  let ran = DispatchSemaphore(value: 0)
  let start = machine_now()
  Task.detached { ran.signal() }
  ran.wait()
  return machine_now() - start
}

actor Worker {
  func work(_ nanoseconds: UInt64) { compute(nanoseconds) }
}

/// Two tasks call two actors in turn, each one of them for long and the other one for 1 us.
func callActors(_ count: Int, _ nanoseconds: UInt64) async {
  let actors = [Worker(), Worker()]
  await withTaskGroup(of: Void.self) { group in
    for number in 0..<2 {
      group.addTask {
        for _ in 0..<count / 2 {
          await actors[number].work(nanoseconds)
          await actors[1 - number].work(1000)
        }
      }
    }
  }
}

/// By a thread that is no executor's, which the main actor waits for.
@MainActor func onThread(_ body: @escaping @Sendable () -> Figures) async -> Figures {
  let result = Box<Figures>([])
  await withUnsafeContinuation { own in
    _ = Thread {
      let figures = body()
      result.value.withLock { $0 = figures }
      own.resume()
    }
  }
  return result.value.withLock { $0 }
}

/// Blocks of the main queue that another thread adds, `batch` at a time: then it waits until they have run.
@MainActor func addToMainQueue(_ count: Int, batch: Int) async -> Figures {
  final class Ran: Sendable { let count = Atomic(0) }
  let ran = Ran()
  return await onThread {
    let watch = Stopwatch()
    for round in 1...count / batch {
      for _ in 0..<batch {
        DispatchQueue.main.async { ran.count.add(1, ordering: .releasing) }
      }
      while ran.count.load(ordering: .acquiring) < round * batch { executor_pause() }
    }
    return watch.figures(count)
  }
}

/// Blocks of the main queue that another thread waits for.
@MainActor func syncWithMainQueue(_ count: Int) async -> Figures {
  await onThread {
    let watch = Stopwatch()
    for _ in 0..<count { DispatchQueue.main.sync { executor_pause() } }
    return watch.figures(count)
  }
}

/// The processor time of a process in which nothing happens, after activity.
@MainActor func rest(_ seconds: Double) async -> Figures {
  await onPool {
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<10_000 { group.addTask { await Task.yield() } }
    }
  }
  return await onThread {
    usleep(10_000)
    let before = executor_process_time()
    usleep(UInt32(seconds * 1e6))
    return [("cpu", Double(executor_process_time() - before))]
  }
}

/// The processor time of everybody else while one job computes, and of a tree before it.
@MainActor func computeAlone(_ seconds: Double) async -> Figures {
  await onPool {
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<10_000 { group.addTask { await Task.yield() } }
    }
  }
  return await onPool {
    let all = executor_process_time(), own = executor_thread_time(), start = machine_now()
    while Double(machine_now() - start) < seconds * 1e9 {}
    let mine = Double(executor_thread_time() - own)
    let others = Double(executor_process_time() - all) - mine
    return [("others", 100 * others / (seconds * 1e9))]
  }
}

/// A row that a task of the pool measures.
func poolRow(
  _ name: String, _ text: String, count: Int = 100_000, _ body: @escaping @Sendable (Int) async -> Void
) -> Row {
  Row(name: name, text: text, count: count) { count in
    await onPool { await measure(count) { await body(count) } }
  }
}

let handOvers = [
  Row(name: "main-hop", text: "the main actor calls a function of the pool; an operation is one way", count: 50_000) {
    count in
    await measure(count) { for _ in 0..<count / 2 { _ = await hop() } }
  },
  Row(name: "foreign-resume", text: "a thread that computes resumes a task, one way", count: 20_000) {
    await resumeByThread($0)
  },
  Row(name: "main-jobs", text: "a thread adds a job to the main actor, which is in another one", count: 50_000) {
    await addToMain($0)
  },
  Row(name: "foreign-add", text: "a thread that computes adds a task each 45 us, which runs for 1 us", count: 10_000) {
    await addTasks($0, every: 45_000)
  },
  Row(name: "main-queue-async", text: "a thread adds a block to DispatchQueue.main, and spins until it has run", count: 20_000) {
    await addToMainQueue($0, batch: 1)
  },
  Row(name: "main-queue-async-100", text: "likewise 100 blocks at a time; an operation is a block", count: 100_000) {
    await addToMainQueue($0, batch: 100)
  },
  Row(name: "main-queue-sync", text: "a thread waits for a block of DispatchQueue.main", count: 20_000) {
    await syncWithMainQueue($0)
  },
  poolRow("stream", "elements of an AsyncStream that go to a task and come back, one way") { await passElements($0) },
  poolRow("stream-3", "elements that go through three AsyncStreams, each with a task", count: 300_000) {
    await pipe($0)
  },
  poolRow("stream-8", "likewise eight", count: 300_000) { await pipe($0, stages: 8) },
  poolRow("stream-3-work", "three, with tasks that compute for 0.7 us for each element", count: 20_000) {
    await pipe($0, batch: 8, 700)
  },
  poolRow("stream-3-long", "three, with tasks that compute for 5 us for each element", count: 5000) {
    await pipe($0, batch: 1, 5000)
  },
  poolRow("blocks-2", "two tasks that each wait for a block of a global queue; both compute for 0.7 us", count: 20_000) {
    await passBlocks($0, tasks: 2, 700)
  },
  poolRow("blocks-8", "likewise eight tasks", count: 40_000) { await passBlocks($0, tasks: 8, 700) },
  poolRow("yield-2", "two tasks that compute for 1 us and give way; an operation is a turn of one", count: 50_000) {
    await giveWay($0, tasks: 2) { compute(1000) }
  },
  poolRow("resumed-2", "a task resumes four that wait, which run for 2 us each; an operation is a round", count: 10_000) {
    await resumeFour($0, 2000)
  },
  poolRow("resumed-7", "a task resumes four that wait, which run for 7 us each; an operation is a round", count: 10_000) {
    await resumeFour($0, 7000)
  },
]

let tasks = [
  poolRow("task", "a task of the pool makes a Task and awaits it") { count in
    for _ in 0..<count { await Task {}.value }
  },
  Row(name: "task-main", text: "the main actor makes a Task of the pool and awaits it", count: 30_000) { count in
    await measure(count) { for _ in 0..<count { await Task.detached {}.value } }
  },
  poolRow("async-let", "a task of the pool awaits a pair of async let", count: 30_000) { count in
    for _ in 0..<count {
      async let one = hop()
      async let two = hop()
      _ = await one + two
    }
  },
  Row(name: "async-let-main", text: "the main actor awaits a pair of async let", count: 20_000) { count in
    await measure(count) {
      for _ in 0..<count {
        async let one = hop()
        async let two = hop()
        _ = await one + two
      }
    }
  },
  poolRow("group-child", "children of a group, 100 at a time") { count in
    for _ in 0..<count / 100 {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<100 { group.addTask {} }
      }
    }
  },
  poolRow("group-short", "groups of four children that compute for 0.5 us, one after the other", count: 20_000) { count in
    for _ in 0..<count {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 { group.addTask { compute(500) } }
      }
    }
  },
  poolRow("actor-calls", "two tasks call two actors in turn, one for 10 us and one for 1 us", count: 10_000) {
    await callActors($0, 10_000)
  },
  poolRow("group-long", "children of a group that compute for 50 us, 64 after 20 tasks one by one", count: 6400) {
    count in
    for _ in 0..<count / 64 {
      for _ in 0..<20 { await Task {}.value }
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<64 { group.addTask { compute(50_000) } }
      }
    }
  },
  poolRow("yielders", "64 tasks, all made by one, that give way; an operation is a turn", count: 1_000_000) {
    await giveWay($0, tasks: 64) {}
  },
  Row(name: "skynet", text: "1,111,111 tasks, in a tree of groups of ten", count: 1_000_000) { count in
    // The first, smaller one has a thousandth of the leaves.
    let leaves = count >= 1_000_000 ? 1_000_000 : 1000
    let figures = await onPool {
      await measure(leaves / 9 * 10 + 1) {
        let sum = await tree(0, leaves)
        precondition(sum == leaves * (leaves - 1) / 2)
      }
    }
    return figures + [("rss", Double(executor_most_memory()) / 1_048_576)]
  },
]

/// Its deinit resumes a task.
final class Resumer: Sendable {
  let own: UnsafeContinuation<Void, Never>
  init(_ own: UnsafeContinuation<Void, Never>) { self.own = own }
  @Target deinit { own.resume() }
}

let fanOut = [
  Row(name: "fan-out-1", text: "requests 0.1 ms apart that compute for 50 us beside a child that does so, too", count: 5000) {
    count in
    await onThread {
      answer(count) {
        async let child: Void = compute(50_000)
        compute(50_000)
        await child
      }
    }
  },
  Row(name: "fan-out-2", text: "likewise one that waits for a group of two such children", count: 5000) { count in
    await onThread {
      answer(count) {
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<2 { group.addTask { compute(50_000) } }
        }
      }
    }
  },
]

let requests: [Row] = [1, 8].flatMap { (clients: Int) -> [Row] in
  let text = "resumes a task, which runs four children of 7 us; \(clients) at once"
  return [
    poolRow("mix-\(clients)", "a block of a global queue of Dispatch \(text)", count: 10_000) { count in
      await request(count, clients: clients) { .global() }
    },
    poolRow("mix-serial-\(clients)", "a block of a serial queue of Dispatch \(text)", count: 10_000) { count in
      await request(count, clients: clients) { DispatchQueue(label: "mix") }
    },
  ]
} + [
  Row(name: "block-behind", text: "how long a block of a global queue waits behind 1,000 tasks of 20 us", count: 300) {
    await blockBehindTasks($0)
  },
]

let ending = [
  Row(
    name: "deinit-end-1", text: "an isolated deinit, released by a job that ends, resumes the main actor",
    count: 20_000
  ) { count in
    await measure(count) {
      for _ in 0..<count {
        await withUnsafeContinuation { own in
          let object = Resumer(own)
          Task.detached { _ = object }
        }
      }
    }
  },
]

let suspending: [Row] = [(1, 5000), (100, 100_000)].map { (batch: Int, count: Int) -> Row in
  let text = "isolated deinits of \(batch), released by a job that suspends"
  return Row(name: "deinit-suspend-\(batch)", text: text, count: count) {
    await deinits(batch, $0, by: .suspendingJob)
  }
}

let sizes = [(1, 5000), (100, 100_000), (5000, 500_000), (1_000_000, 1_000_000)]

let goingOn: [Row] = sizes.flatMap { (batch: Int, count: Int) -> [Row] in
  let text = "isolated deinits of \(batch), released by a"
  return [
    Row(name: "deinit-job-\(batch)", text: "\(text) job that goes on", count: count) {
      await deinits(batch, $0, by: .job)
    },
    Row(name: "deinit-thread-\(batch)", text: "\(text) thread", count: count) {
      await deinits(batch, $0, by: .thread)
    },
  ]
}

let sleeps: [Row] = [(1, 500), (5, 200)].map { (milliseconds: Int, count: Int) -> Row in
  let text = "a sleep of \(milliseconds) ms in an idle process: how late it ends"
  return Row(name: "timer-\(milliseconds)", text: text, count: count) { await sleep(milliseconds, $0) }
}

/// Operations of these are tenths of a second.
let rests = [
  Row(name: "idle", text: "processor time of 2 s in which nothing happens", count: 20) {
    await rest(Double($0) / 10)
  },
  Row(name: "compute", text: "processor time of the others while one job computes for 2 s", count: 20) {
    await computeAlone(Double($0) / 10)
  },
]

let others = [
  Row(name: "beside-pair", text: "new jobs beside two tasks that hand over for ever", count: 2000) { count in
    let pair = Pair()
    let figures = await onThread { waits(nil, count) }
    pair.end()
    return figures
  },
  Row(name: "background-0.1", text: "background jobs beside high ones of 0.1 ms", count: 50) {
    await waits(.background, beside: .high, 100_000, $0)
  },
  Row(name: "background-10", text: "background jobs beside high ones of 10 ms", count: 20) {
    await waits(.background, beside: .high, 10_000_000, $0)
  },
  Row(name: "urgent-0.3", text: "high jobs beside default ones of 0.3 ms", count: 1000) {
    await waits(.high, beside: .medium, 300_000, $0)
  },
  Row(name: "urgent-5", text: "high jobs beside default ones of 5 ms", count: 1000) {
    await waits(.high, beside: .medium, 5_000_000, $0)
  },
  Row(name: "default-5", text: "default jobs, one each 9 ms, beside background ones of 5 ms", count: 100) {
    await waits(.medium, beside: .background, 5_000_000, $0, pause: 9000)
  },
  Row(name: "block-low", text: "low jobs that block for 0.3 ms beside default ones that compute", count: 5000) {
    await blockBesideDefault(.low, $0)
  },
  Row(name: "block-high", text: "likewise high jobs", count: 5000) { await blockBesideDefault(.high, $0) },
  Row(name: "block-default", text: "likewise default jobs", count: 5000) {
    await blockBesideDefault(.medium, $0)
  },
  poolRow("block-alone", "16 tasks that each block for 0.5 ms and then compute for 50 us", count: 5000) {
    await giveWay($0, tasks: 16) {
      usleep(500)
      use(50_000)
    }
  },
]

// With Dispatch's queues, these block for ever; they are left out with --filter.
let blocking: [Row] = [1, 2, 4].map { (factor: Int) -> Row in
  let text = "\(factor) jobs a processor that block until one more runs, which comes last"
  return Row(name: "blocked-\(factor)N", text: text, count: 20) { count in
    await onThread { blocked(factor * processors, max(1, count / 2)) }
  }
} + [
  Row(name: "blocked-child", text: "a job that makes one and blocks until it has run", count: 1000) {
    await blockedOnChild($0, after: 0)
  },
  Row(name: "blocked-child-50", text: "likewise, after 50 tasks that are awaited one by one", count: 300) {
    await blockedOnChild($0, after: 50)
  },
]

let rows = handOvers + tasks + fanOut + requests + ending + suspending + goingOn + sleeps + rests + others + blocking
