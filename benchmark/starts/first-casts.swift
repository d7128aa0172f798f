// Asks for the conformances of types for which nobody has asked, by one thread or by several.
//
//     first-casts WHAT COUNT THREADS
//
// Prints the nanoseconds of one question, the median bytes that malloc has given out for all of
// them together, and the library that has answered. A question is `type is any P.Type`.

import Dispatch

#if FOUNDATION
import Foundation
#endif

protocol Named {}
struct Left<T> {}
struct Right<T> {}
struct NamedLeaf<T>: Named {}
struct NamelessLeaf<T> {}
class Base<T> {}
class NamedMiddle<T>: Base<T>, Named {}
final class Bottom<T>: NamedMiddle<T> {}

enum What: String {
  /// A struct that conforms; one that does not; a class whose superclass does.
  case conforms, fails, superclasses
}

/// Types that no other program has, made from a tree of generic ones.
func makeTypes(_ what: What, _ count: Int) -> [Any.Type] {
  func left<T>(_: T.Type) -> Any.Type { Left<T>.self }
  func right<T>(_: T.Type) -> Any.Type { Right<T>.self }
  func asked<T>(_: T.Type) -> Any.Type {
    switch what {
    case .conforms: return NamedLeaf<T>.self
    case .fails: return NamelessLeaf<T>.self
    case .superclasses: return Bottom<T>.self
    }
  }
  var parents: [Any.Type] = [Int.self]
  return (0..<count).map { number in
    let parent = parents[number]
    parents.append(_openExistential(parent, do: left))
    parents.append(_openExistential(parent, do: right))
    return _openExistential(parent, do: asked)
  }
}

@inline(never) func isNamed(_ type: Any.Type) -> Bool { type is any Named.Type }

@main struct Main {
  static func main() {
    let what = What(rawValue: CommandLine.arguments[1])!
    let count = Int(CommandLine.arguments[2])!, threads = Int(CommandLine.arguments[3])!
    #if FOUNDATION
    // So that the library is loaded whatever the linker leaves out.
    precondition(!Data([1]).isEmpty)
    #endif
    let types = makeTypes(what, count)
    let answer = what != .fails
    let before = bytesInUse()
    let start = DispatchTime.now().uptimeNanoseconds
    if threads == 1 {
      for type in types { precondition(isNamed(type) == answer) }
    } else {
      // Each asks for all of them, and begins at another one.
      DispatchQueue.concurrentPerform(iterations: threads) { thread in
        for number in 0..<count {
          precondition(isNamed(types[(number + thread * count / threads) % count]) == answer)
        }
      }
    }
    let end = DispatchTime.now().uptimeNanoseconds
    print("\((end - start) / UInt64(count))\t\(bytesInUse() - before)\t\(String(cString: runtimeLibrary()))")
  }
}
