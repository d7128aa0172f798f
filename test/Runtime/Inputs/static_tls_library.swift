import Dispatch

protocol Number { var value: Int32 { get } }
struct Pair<First, Second>: Number { var value: Int32 }

enum Key { @TaskLocal static var number: Int32 = 0 }

@inline(never) @_optimize(none)
func number(_ value: Any) -> Int32 { (value as? any Number)?.value ?? 0 }

/// Uses thread-local variables of both libraries, on this thread and on one of a task.
@_cdecl("answer")
public func answer() -> Int32 {
  let done = DispatchSemaphore(value: 0)
  nonisolated(unsafe) var sum: Int32 = 0
  return Key.$number.withValue(number(Pair<Int, Bool>(value: 40))) {
    _ = Task {
      await Task.yield()
      sum = Key.number + 1
      done.signal()
    }
    done.wait()
    return sum + (Key.number == 40 ? 1 : 0)
  }
}
