protocol Named { func name() -> Int }
final class Object: Named { func name() -> Int { 1 } }
class Base {}
final class Derived: Base, Named { func name() -> Int { 2 } }
struct Box<T>: Named { func name() -> Int { 3 } }
struct Nameless {}

func box<T>(_: T) -> Any { Box<T>() }

/// Casts values of `count` types and more, twice; returns the sum of their names.
@_cdecl("plugin_cast")
public func cast(_ count: Int32) -> Int32 {
  var sum = 0
  for _ in 0..<2 {
    var value: Any = 0
    for _ in 0..<count {
      value = box(value)
      value = _openExistential(value, do: box)
      let objects: [Any] = [Object(), Derived() as Base, Nameless(), value]
      for object in objects { sum += (object as? any Named)?.name() ?? 0 }
    }
  }
  return Int32(sum)
}
