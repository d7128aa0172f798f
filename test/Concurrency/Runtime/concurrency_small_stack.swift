// RUN: %empty-directory(%t)
// RUN: %target-clang -x c -c %S/Inputs/task-local-stack.c -o %t/task-local-stack.o
// RUN: %target-build-swift -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library -import-objc-header %S/Inputs/task-local-stack.h %s %t/task-local-stack.o -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency
// UNSUPPORTED: OS=windows-msvc, OS=wasip1
// Frames with a sanitizer are many times as large.
// UNSUPPORTED: asan, tsan

// Everything here runs on threads with a stack of 64 KiB: what depends on the number of
// task-local values, of objects or of jobs must not recurse.

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif
import Synchronization

final class SmallThread: SerialExecutor {
  private let jobs = Mutex<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  init() {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setstacksize(&attributes, 64 << 10)
#if canImport(Darwin) || canImport(Musl)
    var thread: pthread_t? = nil
#else
    var thread = pthread_t()
#endif
    let status = pthread_create(&thread, &attributes, { argument in
#if canImport(Darwin) || canImport(Musl)
      let executor = Unmanaged<SmallThread>.fromOpaque(argument).takeRetainedValue()
#else
      let executor = Unmanaged<SmallThread>.fromOpaque(argument!).takeRetainedValue()
#endif
      while true {
        let jobs = executor.jobs.withLock { jobs in
          defer { jobs = [] }
          return jobs
        }
        if jobs.isEmpty { usleep(100) }
        for job in jobs { job.runSynchronously(on: executor.asUnownedSerialExecutor()) }
      }
    }, Unmanaged.passRetained(self).toOpaque())
    precondition(status == 0)
  }
}

@globalActor actor First {
  static let shared = First()
  nonisolated let executor = SmallThread()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
}

@globalActor actor Second {
  static let shared = Second()
  nonisolated let executor = SmallThread()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
}

let alive = Atomic(0)

class Counted: @unchecked Sendable {
  let next: Counted?
  init(_ next: Counted? = nil) {
    self.next = next
    alive.add(1, ordering: .relaxed)
  }
  deinit { alive.subtract(1, ordering: .releasing) }
}
final class OnFirst: Counted, @unchecked Sendable { @First deinit {} }
final class OnSecond: Counted, @unchecked Sendable { @Second deinit {} }

/// Returns when all objects are gone.
func wait(_ what: String) async {
  while alive.load(ordering: .acquiring) > 0 { try? await Task.sleep(nanoseconds: 1_000_000) }
  print(what, "ok")
}

let count = 20_000
nonisolated(unsafe) let keys = UnsafeRawPointer(
  UnsafeMutableRawPointer.allocate(byteCount: 16 * count, alignment: 16))

/// How many of the values are visible.
func visible() -> Int { (0..<count).filter { getTaskLocal(keys + 16 * $0) != nil }.count }

func pushAll() {
  let type = unsafeBitCast(Counted.self as Any.Type, to: UnsafeRawPointer.self)
  for n in 0..<count {
    var value = Unmanaged.passRetained(Counted())
    pushTaskLocal(keys + 16 * n, &value, type)
  }
}

func popAll() { for _ in 0..<count { popTaskLocal() } }

@First func makeTasks() -> [Task<Int, Never>] {
  pushAll()
  // Their last reader destroys the values.
  let tasks = (0..<3).map { _ in Task { @Second in visible() } }
  popAll()
  return tasks
}

@First func dropNested() {
  var chain: Counted?
  for _ in 0..<60 { chain = OnFirst(chain) }
}

@First func dropAlternating() {
  var chain: Counted?
  for _ in 0..<count { chain = OnFirst(OnSecond(chain)) }
}

@First func dropMany() {
  var objects: [Counted] = []
  for _ in 0..<count { objects.append(OnSecond()) }
}

@main struct Main {
  static func main() async {
    for task in await makeTasks() { print(await task.value) }
    await wait("snapshot")
    await dropNested()
    await wait("nested")
    await dropAlternating()
    await wait("alternating")
    await dropMany()
    await wait("many")
  }
}

// CHECK: 20000
// CHECK: 20000
// CHECK: 20000
// CHECK: snapshot ok
// CHECK: nested ok
// CHECK: alternating ok
// CHECK: many ok
