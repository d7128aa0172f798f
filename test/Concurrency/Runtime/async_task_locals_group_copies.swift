// RUN: %empty-directory(%t)
// RUN: %target-build-swift -plugin-path %swift-plugin-dir -target %target-future-triple -parse-as-library %s %S/Inputs/CountedTaskLocals.swift -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// A child task copies what is bound in the body of its group. It finds what its parent has inherited there, and copies
// nothing of that, however the parent keeps it.

let keys = makeKeys(5)

/// How many references there are to the values of these keys.
func counts(_ keys: ArraySlice<TaskLocal<Value?>>) -> [UInt] { keys.map { _getRetainCount($0.get()!) } }

@main struct Main {
  static func main() async {
    await bind(keys[..<4].map { ($0, 0) }[...]) {
      await Task {
        await withTaskGroup(of: Void.self) { group in
          bind([(keys[4], 0)]) {
            let before = counts(keys[...])
            for _ in 0..<100 { group.addTask { try? await Task.sleep(nanoseconds: 3_600_000_000_000) } }
            let after = counts(keys[...])
            // CHECK: inherited: true
            print("inherited:", after[..<4] == before[..<4])
            // CHECK: in the body: 100
            print("in the body:", after[4] - before[4])
          }
          group.cancelAll()
        }
      }.value
    }
  }
}
