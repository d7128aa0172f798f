// RUN: %empty-directory(%t)
// RUN: %target-build-swift -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out 0 | %FileCheck %s
// RUN: %target-run %t/a.out 3 | %FileCheck %s
// RUN: %target-run %t/a.out 12 | %FileCheck %s
// RUN: %target-run %t/a.out 100 | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// When the values die that tasks have inherited. How the bindings are inherited, as
// copies or in shared maps, makes no difference: so all is done below that many
// other bindings. In which order values die together does not matter.

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

final class Value: Sendable, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
  deinit { print("- \(description)") }
}

struct Two: Sendable {
  let first: Value
  let second: Value
}

enum TL {
  @TaskLocal static var a: Value? = nil
  @TaskLocal static var b: Value? = nil
  @TaskLocal static var c: Value? = nil
  @TaskLocal static var two: Two? = nil

  static var all: String {
    [a, b, c].map { $0?.description ?? "nil" }.joined(separator: " ")
  }
}

let others = (0..<Int(CommandLine.arguments[1])!).map { _ in
  TaskLocal<Int>(wrappedValue: 0)
}

func bindOthers(from first: Int = 0, _ body: () async -> Void) async {
  if first == others.count { return await body() }
  await others[first].withValue(first) { await bindOthers(from: first + 1, body) }
}

func bindOthers(from first: Int = 0, _ body: () -> Void) {
  if first == others.count { return body() }
  others[first].withValue(first) { bindOthers(from: first + 1, body) }
}

/// Lets a task wait until it is opened.
final class Gate: Sendable {
  let state = Mutex<(isOpen: Bool, waiter: CheckedContinuation<Void, Never>?)>(
    (false, nil))

  func open() {
    let waiter = state.withLock {
      $0.isOpen = true
      return $0.waiter
    }
    waiter?.resume()
  }

  func wait() async {
    await withCheckedContinuation { waiter in
      let isOpen = state.withLock {
        $0.waiter = waiter
        return $0.isOpen
      }
      if isOpen { waiter.resume() }
    }
  }
}

/// A task that waits, and then says what it sees.
struct Waiting {
  let gate = Gate()
  let task: Task<Void, Never>

  init(_ name: String) {
    task = Task { [gate] in
      await gate.wait()
      print("\(name): \(TL.all)")
    }
  }

  func finish() async {
    gate.open()
    await task.value
  }
}

func testShadowed() async {
  // CHECK-LABEL: shadowed
  print("shadowed")
  var tasks: [Waiting] = []
  TL.$a.withValue(Value("outer")) {
    TL.$b.withValue(Value("between")) {
      tasks.append(Waiting("first"))
      TL.$a.withValue(Value("inner")) {
        tasks.append(Waiting("second"))
        tasks.append(Waiting("third"))
      }
      tasks.append(Waiting("fourth"))
    }
  }
  // CHECK-NEXT: left the scopes
  print("left the scopes")
  // CHECK-NEXT: first: outer between nil
  await tasks[0].finish()
  // The tasks that were created below do not keep the outer one alive.
  // CHECK-NEXT: fourth: outer between nil
  // CHECK-NEXT: - outer
  await tasks[3].finish()
  // CHECK-NEXT: second: inner between nil
  await tasks[1].finish()
  // CHECK-NEXT: third: inner between nil
  // CHECK-DAG: - between{{$}}
  // CHECK-DAG: - inner{{$}}
  await tasks[2].finish()
}

func testScopeOutlivesTask() async {
  // CHECK-LABEL: scope outlives task
  print("scope outlives task")
  await TL.$a.withValue(Value("a")) {
    await TL.$b.withValue(Value("b")) {
      await Waiting("task").finish()
      // CHECK-NEXT: task: a b nil
    }
    // What the bindings below remember must not keep this one.
    // CHECK-NEXT: - b
    print("left b")
    // CHECK-NEXT: left b
    await Waiting("task").finish()
    // CHECK-NEXT: task: a nil nil
  }
  // CHECK-NEXT: - a
}

func testPushAfterSnapshot() async {
  // CHECK-LABEL: push after snapshot
  print("push after snapshot")
  var tasks: [Waiting] = []
  TL.$a.withValue(Value("a")) {
    for i in 0..<3 {
      TL.$b.withValue(Value("b\(i)")) { tasks.append(Waiting("task \(i)")) }
    }
    tasks.append(Waiting("task 3"))
  }
  // CHECK-NEXT: task 1: a b1 nil
  // CHECK-NEXT: - b1
  await tasks[1].finish()
  // CHECK-NEXT: task 3: a nil nil
  await tasks[3].finish()
  // CHECK-NEXT: task 0: a b0 nil
  // CHECK-NEXT: - b0
  await tasks[0].finish()
  // CHECK-NEXT: task 2: a b2 nil
  // CHECK-DAG: - a{{$}}
  // CHECK-DAG: - b2{{$}}
  await tasks[2].finish()
}

func testSeveralReferences() async {
  // CHECK-LABEL: several references
  print("several references")
  var tasks: [Waiting] = []
  do {
    let shared = Value("shared")
    TL.$two.withValue(Two(first: Value("first"), second: shared)) {
      TL.$c.withValue(shared) { tasks.append(Waiting("task 0")) }
      tasks.append(Waiting("task 1"))
    }
  }
  // CHECK-NEXT: task 1: nil nil nil
  await tasks[1].finish()
  // CHECK-NEXT: task 0: nil nil shared
  // CHECK-DAG: - first{{$}}
  // CHECK-DAG: - shared{{$}}
  await tasks[0].finish()
}

/// A task creates a task, which creates a task. The last one to finish destroys
/// the values.
func testGenerations() async {
  for last in 1...3 {
    // CHECK-LABEL: generation 1
    // CHECK-NEXT: a b c
    // CHECK-NEXT: a b c
    // CHECK-NEXT: a b c
    // CHECK-DAG: - a{{$}}
    // CHECK-DAG: - b{{$}}
    // CHECK-DAG: - c{{$}}
    // CHECK-LABEL: generation 2
    // CHECK-NEXT: a b c
    // CHECK-NEXT: a b c
    // CHECK-NEXT: a b c
    // CHECK-DAG: - c{{$}}
    // CHECK-DAG: - b{{$}}
    // CHECK-DAG: - a{{$}}
    // CHECK-LABEL: generation 3
    // CHECK-NEXT: a b c
    // CHECK-NEXT: a b c
    // CHECK-NEXT: a b c
    // CHECK-DAG: - a{{$}}
    // CHECK-DAG: - b{{$}}
    // CHECK-DAG: - c{{$}}
    print("generation \(last)")
    let gates = (0...3).map { _ in Gate() }
    let tasks = Mutex<[Int: Task<Void, Never>]>([:])
    @Sendable func create(_ generation: Int) {
      let task = Task {
        if generation < 3 { create(generation + 1) }
        await gates[generation].wait()
        print(TL.all)
      }
      tasks.withLock { $0[generation] = task }
    }
    TL.$a.withValue(Value("a")) {
      TL.$b.withValue(Value("b")) {
        TL.$c.withValue(Value("c")) { create(1) }
      }
    }
    while tasks.withLock({ $0.count }) < 3 { await Task.yield() }
    let all = tasks.withLock { $0 }
    for generation in [1, 2, 3].filter({ $0 != last }) + [last] {
      gates[generation].open()
      await all[generation]!.value
    }
  }
}

func testGroupBody() async {
  // CHECK-LABEL: group body
  print("group body")
  let fromChild = Mutex<Waiting?>(nil)
  await TL.$a.withValue(Value("outside")) {
    await withTaskGroup(of: Void.self) { group in
      let gates = [Gate(), Gate()]
      let created = Gate()
      TL.$b.withValue(Value("body 1")) {
        TL.$c.withValue(Value("body 2")) {
          group.addTask {
            fromChild.withLock { $0 = Waiting("task of child") }
            created.open()
            await gates[0].wait()
            print("child 0: \(TL.all)")
          }
          TL.$b.withValue(Value("body 3")) {
            group.addTask {
              await gates[1].wait()
              print("child 1: \(TL.all)")
            }
          }
        }
      }
      // CHECK-NEXT: left the bindings
      print("left the bindings")
      await created.wait()
      // CHECK-NEXT: child 1: outside body 3 body 2
      // CHECK-NEXT: - body 3
      gates[1].open()
      await group.next()
      // CHECK-NEXT: child 0: outside body 1 body 2
      gates[0].open()
      await group.next()
    }
    // CHECK-NEXT: left the group
    print("left the group")
  }
  // CHECK-NEXT: left the outer binding
  print("left the outer binding")
  // CHECK-NEXT: task of child: outside body 1 body 2
  // CHECK-DAG: - outside{{$}}
  // CHECK-DAG: - body 2{{$}}
  // CHECK-DAG: - body 1{{$}}
  await fromChild.withLock { $0! }.finish()
}

func testGroupBodyOnly() async {
  // CHECK-LABEL: child is the last one
  print("child is the last one")
  await withTaskGroup(of: Void.self) { group in
    let gate = Gate()
    TL.$a.withValue(Value("body 1")) {
      TL.$b.withValue(Value("body 2")) {
        TL.$c.withValue(Value("body 3")) {
          group.addTask {
            await gate.wait()
            print("child: \(TL.all)")
          }
        }
      }
    }
    // CHECK-NEXT: child: body 1 body 2 body 3
    // CHECK-DAG: - body 1{{$}}
    // CHECK-DAG: - body 2{{$}}
    // CHECK-DAG: - body 3{{$}}
    gate.open()
    await group.next()
  }
}

final class WaitingList: Sendable {
  let tasks = Mutex<[Waiting]>([])
  func append(_ task: Waiting) { tasks.withLock { $0.append(task) } }
  subscript(index: Int) -> Waiting { tasks.withLock { $0[index] } }
}

@globalActor actor Isolation {
  static let shared = Isolation()
}

/// Its deinit starts without any task-local values.
@Isolation final class Isolated {
  let tasks: WaitingList
  init(_ tasks: WaitingList) { self.tasks = tasks }
  isolated deinit {
    tasks.append(Waiting("unbound"))
    TL.$b.withValue(Value("in deinit")) { tasks.append(Waiting("bound")) }
  }
}

@Isolation func testStopMarker() async {
  // CHECK-LABEL: stop marker
  print("stop marker")
  let list = WaitingList()
  TL.$a.withValue(Value("hidden")) {
    do { _ = Isolated(list) }
    list.append(Waiting("after"))
  }
  // CHECK-NEXT: unbound: nil nil nil
  await list[0].finish()
  // CHECK-NEXT: after: hidden nil nil
  // CHECK-NEXT: - hidden
  await list[2].finish()
  // CHECK-NEXT: bound: nil in deinit nil
  // CHECK-NEXT: - in deinit
  await list[1].finish()
}

func testThread() async {
  // CHECK-LABEL: thread
  print("thread")
  let list = WaitingList()
  let unmanaged = Unmanaged.passUnretained(list).toOpaque()
#if canImport(Darwin) || canImport(Musl)
  var thread: pthread_t? = nil
#else
  var thread = pthread_t()
#endif
  let result = pthread_create(&thread, nil, { argument in
    let pointer: UnsafeMutableRawPointer? = argument
    let list = Unmanaged<WaitingList>.fromOpaque(pointer!).takeUnretainedValue()
    bindOthers {
      TL.$a.withValue(Value("a")) {
        list.append(Waiting("task 0"))
        TL.$b.withValue(Value("b")) { list.append(Waiting("task 1")) }
        // Nobody has asked for this one.
        TL.$c.withValue(Value("c")) {}
      }
    }
    return nil
  }, unmanaged)
  precondition(result == 0)
#if canImport(Darwin) || canImport(Musl)
  pthread_join(thread!, nil)
#else
  pthread_join(thread, nil)
#endif
  // CHECK-NEXT: - c
  // CHECK-NEXT: task 0: a nil nil
  await list[0].finish()
  // CHECK-NEXT: task 1: a b nil
  // CHECK-DAG: - a{{$}}
  // CHECK-DAG: - b{{$}}
  await list[1].finish()
}

/// A binding is replaced that tasks have inherited, and others are replaced there.
func testReplaced() async {
  // CHECK-LABEL: replaced
  print("replaced")
  let first = Gate()
  let tasks = WaitingList()
  await TL.$a.withValue(Value("old")) {
    await Task {
      TL.$a.withValue(Value("new")) {
        tasks.append(Waiting("task 0"))
        TL.$b.withValue(Value("b")) {
          TL.$a.withValue(Value("newest")) { tasks.append(Waiting("task 1")) }
        }
      }
      first.open()
    }.value
  }
  // CHECK-NEXT: - old
  await first.wait()
  // CHECK-NEXT: task 0: new nil nil
  // CHECK-NEXT: - new
  await tasks[0].finish()
  // CHECK-NEXT: task 1: newest b nil
  // CHECK-DAG: - newest{{$}}
  // CHECK-DAG: - b{{$}}
  await tasks[1].finish()
}

/// One binding of many, on the way out of nested ones.
func testWayOut() async {
  // CHECK-LABEL: way out
  print("way out")
  let tasks = WaitingList()
  let keys = (0..<40).map { _ in TaskLocal<Value?>(wrappedValue: nil) }
  func nest(_ level: Int) {
    if level == keys.count { return }
    keys[level].withValue(level == 20 ? Value("level 20") : nil) { nest(level + 1) }
    if level >= 19 && level % 4 == 3 { tasks.append(Waiting("after \(level)")) }
  }
  nest(0)
  // Tasks after levels 19, 23, 27, 31, 35, 39, in the reverse order. Those of 23 and
  // above see the value.
  // CHECK-NEXT: after 19: nil nil nil
  await tasks[5].finish()
  // CHECK-NEXT: after 39: nil nil nil
  // CHECK-NEXT: after 35: nil nil nil
  // CHECK-NEXT: after 31: nil nil nil
  // CHECK-NEXT: after 27: nil nil nil
  for i in 0...3 { await tasks[i].finish() }
  // CHECK-NEXT: after 23: nil nil nil
  // CHECK-NEXT: - level 20
  await tasks[4].finish()
}

@main struct Main {
  static func main() async {
    await bindOthers(all)
    // CHECK-LABEL: done
    print("done")
  }

  static func all() async {
    await testShadowed()
    await testScopeOutlivesTask()
    await testPushAfterSnapshot()
    await testSeveralReferences()
    await testGenerations()
    await testGroupBody()
    await testGroupBodyOnly()
    await testStopMarker()
    await testThread()
    await testReplaced()
    await testWayOut()
  }
}
