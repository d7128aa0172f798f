// RUN: %empty-directory(%t)
// RUN: %target-build-swift-dylib(%t/%target-library-name(Shared)) -module-name Shared -emit-module -emit-module-path %t/Shared.swiftmodule %S/Inputs/cache_readers_shared.swift
// RUN: %target-build-swift-dylib(%t/%target-library-name(Plugin0)) -module-name Plugin0 -D PLUGIN0 -I %t -L %t -lShared %target-rpath(%t) %S/Inputs/cache_readers_plugin.swift
// RUN: %target-build-swift-dylib(%t/%target-library-name(Plugin1)) -module-name Plugin1 -D PLUGIN1 -I %t -L %t -lShared %target-rpath(%t) %S/Inputs/cache_readers_plugin.swift
// RUN: %target-build-swift-dylib(%t/%target-library-name(Plugin2)) -module-name Plugin2 -D PLUGIN2 -I %t -L %t -lShared %target-rpath(%t) %S/Inputs/cache_readers_plugin.swift
// RUN: %target-build-swift-dylib(%t/%target-library-name(Plugin3)) -module-name Plugin3 -D PLUGIN3 -I %t -L %t -lShared %target-rpath(%t) %S/Inputs/cache_readers_plugin.swift
// RUN: %target-build-swift -O %s -o %t/stress -I %t -L %t -lShared %target-rpath(%t)
// RUN: %target-codesign %t/stress %t/%target-library-name(Shared) %t/%target-library-name(Plugin0) %t/%target-library-name(Plugin1) %t/%target-library-name(Plugin2) %t/%target-library-name(Plugin3)
// RUN: %target-run %t/stress %t/%target-library-name(Plugin0) %t/%target-library-name(Plugin1) %t/%target-library-name(Plugin2) %t/%target-library-name(Plugin3) %t/%target-library-name(Shared)

// REQUIRES: executable_test
// REQUIRES: shell
// UNSUPPORTED: remote_run || device_run
// UNSUPPORTED: OS=windows-msvc
// UNSUPPORTED: freestanding
// UNSUPPORTED: back_deployment_runtime

// Eight threads look up conformances and generic types, while more generic types
// are made and images are loaded in a loop: each clears the conformance cache
// that the threads are reading, and replaces tables that they are searching.
//
// A cast that failed must succeed once dlopen of the plugin that has the
// conformance has returned, and from then on. A generic type is the same for all
// threads, and the same each time.

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif
import Shared

let threadCount = 8
let typeCount = 40      // Type arguments; their square is the number of types.
let copiesPerPlugin = 16

struct Leaf {}
struct Wrapped<T> {}
struct Pair<T, U> {}
extension Pair: Registered where T: Registered {
  func number() -> Int { 100 }
}

func fail(_ message: String) -> Never {
  print(message)
  exit(1)
}

/// A counter that one thread increments and all threads read.
final class Published: @unchecked Sendable {
  private var mutex = pthread_mutex_t()
  private var value = 0

  init() { pthread_mutex_init(&mutex, nil) }

  func get() -> Int {
    pthread_mutex_lock(&mutex)
    defer { pthread_mutex_unlock(&mutex) }
    return value
  }

  func increment() {
    pthread_mutex_lock(&mutex)
    value += 1
    pthread_mutex_unlock(&mutex)
  }
}

/// How many plugins are loaded, and 1 when nothing more will be.
let loaded = Published()
let finished = Published()
let completedRounds = Published()

func wrapped<T>(_: T.Type) -> Any.Type { Wrapped<T>.self }

func pair(_ first: Any.Type, _ second: Any.Type) -> Any.Type {
  func open<T>(_: T.Type) -> Any.Type {
    func openSecond<U>(_: U.Type) -> Any.Type { Pair<T, U>.self }
    return _openExistential(second, do: openSecond)
  }
  return _openExistential(first, do: open)
}

func late(_ index: Int) -> (value: Any, type: Any.Type) {
  switch index {
  case 0: return (Late0(), Late0.self)
  case 1: return (Late1(), Late1.self)
  case 2: return (Late2(), Late2.self)
  default: return (Late3(), Late3.self)
  }
}

/// Leaf, Wrapped<Leaf>, Wrapped<Wrapped<Leaf>>, …
func nestedTypes() -> [Any.Type] {
  var types: [Any.Type] = [Leaf.self]
  while types.count < typeCount {
    types.append(_openExistential(types.last!, do: wrapped))
  }
  return types
}

func checkCasts(_ second: Any.Type) {
  for index in 0..<4 {
    let (value, type) = late(index)
    // The order matters: what was loaded before the cast must be seen by it.
    let mustConform = loaded.get() > index
    if let registered = value as? any Registered {
      if registered.number() != index { fail("wrong witness for Late\(index)") }
    } else if mustConform {
      fail("Late\(index) does not conform, but its plugin was loaded")
    }
    // Not the other way round: a look-up during the registration of the plugin
    // can find that the type argument does not conform, and keep that result.
    let conditional = pair(type, second) is any Registered.Type
    if conditional && !(value is any Registered) {
      fail("Pair<Late\(index), \(second)> conforms, but not Late\(index)")
    }
  }
  if value(of: second) as? any Registered != nil { fail("\(second) conforms") }
}

func value(of type: Any.Type) -> Any { type }

/// Makes all types and casts again and again. Returns their identities.
func work(_ thread: Int) -> [ObjectIdentifier] {
  var first: [ObjectIdentifier] = []
  var round = 0
  repeat {
    let last = finished.get() > 0
    let types = nestedTypes()
    var identities: [ObjectIdentifier] = []
    for i in 0..<typeCount {
      for j in 0..<typeCount {
        // Each thread begins elsewhere, so that each makes some of the types.
        let k = (i + thread * typeCount / threadCount) % typeCount
        identities.append(ObjectIdentifier(pair(types[k], types[j])))
      }
      checkCasts(types[(i + round) % typeCount])
    }
    let shift = thread * typeCount / threadCount * typeCount
    let count = identities.count
    identities = (0..<count).map { identities[($0 + count - shift) % count] }
    if round == 0 {
      first = identities
    } else if first != identities {
      fail("a type has changed its identity")
    }
    round += 1
    completedRounds.increment()
    if last { return first }
  } while true
}

final class Worker: @unchecked Sendable {
  let index: Int
  var identities: [ObjectIdentifier] = []
  init(_ index: Int) { self.index = index }
}

func start(_ worker: Worker) -> pthread_t {
#if canImport(Darwin)
  var thread: pthread_t? = nil
#else
  var thread = pthread_t()
#endif
  let argument = Unmanaged.passRetained(worker).toOpaque()
  let status = pthread_create(&thread, nil, { argument in
#if canImport(Darwin)
    let opaque = argument
#else
    let opaque = argument!
#endif
    let worker = Unmanaged<Worker>.fromOpaque(opaque).takeRetainedValue()
    worker.identities = work(worker.index)
    return nil
  }, argument)
  if status != 0 { fail("pthread_create: \(status)") }
#if canImport(Darwin)
  return thread!
#else
  return thread
#endif
}

func load(_ path: String) {
  if dlopen(path, RTLD_NOW | RTLD_LOCAL) == nil {
    fail("dlopen: \(String(cString: dlerror()))")
  }
}

/// Copies an image: loaded under another name, it is another image.
func copy(_ path: String, _ target: String) {
  guard let from = fopen(path, "rb"), let to = fopen(target, "wb") else {
    fail("cannot copy \(path)")
  }
  var buffer = [UInt8](repeating: 0, count: 1 << 16)
  while true {
    let count = fread(&buffer, 1, buffer.count, from)
    if count == 0 { break }
    if fwrite(buffer, 1, count, to) != count { fail("cannot write \(target)") }
  }
  fclose(from)
  fclose(to)
}

let images = Array(CommandLine.arguments.dropFirst())
let plugins = Array(images.prefix(4))
for plugin in plugins {
  for index in 0..<copiesPerPlugin { copy(plugin, "\(plugin).\(index)") }
}

let workers = (0..<threadCount).map(Worker.init)
let threads = workers.map(start)
// Let every thread fail to cast first.
while completedRounds.get() < threadCount { sched_yield() }

for plugin in plugins {
  load(plugin)
  loaded.increment()
  let before = completedRounds.get()
  for index in 0..<copiesPerPlugin {
    load("\(plugin).\(index)")
    usleep(1000)
  }
  while completedRounds.get() < before + threadCount { sched_yield() }
}
finished.increment()
for thread in threads { pthread_join(thread, nil) }

for worker in workers where worker.identities != workers[0].identities {
  fail("threads have made different types")
}
let unique = Set(workers[0].identities).count
if unique != typeCount * typeCount { fail("\(unique) types") }
print("done")
