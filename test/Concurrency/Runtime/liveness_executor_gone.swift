// RUN: %empty-directory(%t)
// RUN: %target-build-swift %import-libdispatch -parse-as-library -I %S/../../../liveness/include %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: libdispatch
// REQUIRES: concurrency_runtime
// REQUIRES: OS=linux-gnu
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding
// UNSUPPORTED: single_threaded_concurrency

// A runtime without the monitor reports nothing.
// XFAIL: without_executor-liveness-marks

// A look at a thread must survive whatever is where the thread's executor was. Here
// the job itself puts something else there, for the time of the look.

import CLiveness
import Dispatch
import Glibc
import StdlibUnittest

final class Custom: SerialExecutor {
  let queue = DispatchQueue(label: "custom")
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
  func asUnownedSerialExecutor() -> UnownedSerialExecutor { .init(ordinary: self) }
}

actor OnCustom {
  nonisolated let executor = Custom()
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// What the type of this thread's executor is called while its object leads to
  /// `metadata`, or to its own; nil: no thread is on it.
  func nameOfExecutor(withMetadata metadata: UInt? = nil) -> String? {
    let object = Unmanaged.passUnretained(executor).toOpaque()
    let own = object.load(as: UInt.self)
    object.storeBytes(of: metadata ?? own, as: UInt.self)
    defer { object.storeBytes(of: own, as: UInt.self) }
    final class Found { let object: UnsafeRawPointer; var name: String?; init(_ o: UnsafeRawPointer) { object = o } }
    let found = Found(object)
    swift_liveness_forEachThread({ thread, context in
      let found = Unmanaged<Found>.fromOpaque(context!).takeUnretainedValue()
      if thread!.pointee.executor == found.object {
        found.name = String(cString: thread!.pointee.executor_type)
      }
    }, Unmanaged.passUnretained(found).toOpaque())
    return found.name
  }

  /// The same, while that metadata is of a class with this context descriptor.
  func nameOfExecutor(withContext context: UnsafeRawPointer) -> String? {
    // Of kind 0: a class.
    let metadata = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 8)
    defer { metadata.deallocate() }
    metadata.initializeMemory(as: UInt8.self, repeating: 0, count: 128)
    // Behind the kind, the superclass and 24 bytes of sizes and flags.
    metadata.storeBytes(of: context, toByteOffset: 2 * MemoryLayout<UInt>.size + 24,
                        as: UnsafeRawPointer.self)
    return nameOfExecutor(withMetadata: UInt(bitPattern: metadata))
  }
}

/// Memory that may not be read.
let nowhere = mmap(nil, Int(getpagesize()), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!

/// Memory of the program's file, as descriptors are.
nonisolated(unsafe) var place: (UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0)

/// Lays a context there that is none of a class.
func layContext() -> UnsafeRawPointer {
  let context = UnsafeMutableRawPointer(&place)
  let anonymousKind: Int32 = 2
  context.storeBytes(of: (anonymousKind, -4), as: (Int32, Int32).self)
  return UnsafeRawPointer(context)
}

@main struct Main {
  static func main() async {
    let tests = TestSuite("LivenessExecutorGone")
    let actor = OnCustom()
    var config = swift_liveness_config(); config.size = MemoryLayout<swift_liveness_config>.size
    config.quiet = true
    expectTrue(swift_liveness_start(&config))

    tests.test("it is there") {
      var name = await actor.nameOfExecutor()
      // A search that takes too long is given up.
      for _ in 0..<50 where name?.hasSuffix(".Custom") != true { name = await actor.nameOfExecutor() }
      expectTrue(name?.hasSuffix(".Custom") == true, "\(name as Any)")
    }

    tests.test("no metadata") {
      for metadata in [0, 16, UInt(bitPattern: nowhere), .max] {
        expectEqual("", await actor.nameOfExecutor(withMetadata: metadata))
      }
    }

    tests.test("no context") {
      expectEqual("", await actor.nameOfExecutor(withContext: nowhere))
    }

    tests.test("code for a context") {
      let code = dlsym(nil, "swift_liveness_load")!
      expectEqual("", await actor.nameOfExecutor(withContext: code))
    }

    tests.test("a context of no class") {
      let context = layContext()
      expectEqual("", await actor.nameOfExecutor(withContext: context))
    }

    await runAllTestsAsync()
  }
}
