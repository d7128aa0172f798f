protocol Number { var value: Int32 { get } }
struct Pair<First, Second>: Number { var value: Int32 { 42 } }

@inline(never) @_optimize(none)
func number(_ value: Any) -> Int32 { (value as? any Number)?.value ?? 0 }

@_cdecl("answer")
public func answer() -> Int32 { number(Pair<Int, Bool>()) }

/// Links the concurrency runtime.
public func start() { Task { _ = answer() } }
