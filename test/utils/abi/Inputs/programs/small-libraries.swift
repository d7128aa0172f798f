// Synchronization, Observation, Distributed, regular expressions, reflection, differentiation.
import Distributed
import Observation
import RegexBuilder
import Synchronization
import _Differentiation

let total = Atomic(0)
let state = Mutex([Int]())
await withTaskGroup(of: Void.self) { group in
  for i in 0..<100 {
    group.addTask {
      total.add(i, ordering: .relaxed)
      state.withLock { $0.append(i) }
    }
  }
}
print(total.load(ordering: .sequentiallyConsistent), state.withLock { $0.count })

@Observable final class Model {
  var value = 0
}

let model = Model()
let changed = Atomic(0)
withObservationTracking { _ = model.value } onChange: { changed.add(1, ordering: .relaxed) }
model.value = 1
model.value = 2
print(changed.load(ordering: .relaxed))

distributed actor Greeter {
  typealias ActorSystem = LocalTestingDistributedActorSystem
  distributed func greet() -> String { "hello" }
}

print(try await Greeter(actorSystem: .init()).greet())
print("a12b".firstMatch(of: Regex { OneOrMore(.digit) })!.output)
print(gradient(at: 3.0) { x in x * x })
print(Mirror(reflecting: model).subjectType)

@globalActor actor Isolation {
  static let shared = Isolation()
}

@Isolation final class Isolated {
  let done: @Sendable () -> Void
  init(_ done: @escaping @Sendable () -> Void) { self.done = done }
  isolated deinit { done() }
}

await withCheckedContinuation { continuation in
  Task { @Isolation in _ = Isolated { continuation.resume() } }
}
enum Local { @TaskLocal static var number = 0 }
print(await Local.$number.withValue(7) { await Task { Local.number }.value })
