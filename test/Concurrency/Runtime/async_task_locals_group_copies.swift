// RUN: %empty-directory(%t)
// RUN: %target-build-swift -target %target-future-triple -parse-as-library %s -o %t/a.out
// RUN: %target-codesign %t/a.out
// RUN: %target-run %t/a.out | %FileCheck %s

// REQUIRES: executable_test
// REQUIRES: concurrency
// REQUIRES: concurrency_runtime
// UNSUPPORTED: back_deployment_runtime
// UNSUPPORTED: freestanding

// A child task copies what is bound in the body of its group. It finds what its parent has inherited there, and copies
// nothing of that, however the parent keeps it.

final class Value: Sendable {}

enum Locals {
  @TaskLocal static var first: Value?
  @TaskLocal static var second: Value?
  @TaskLocal static var third: Value?
  @TaskLocal static var fourth: Value?
  @TaskLocal static var inBody: Value?
}

@main struct Main {
  static func main() async {
    let inherited = (0..<4).map { _ in Value() }
    let inBody = Value()
    func counts(_ values: [Value]) -> [UInt] { values.map { _getRetainCount($0) } }

    await Locals.$first.withValue(inherited[0]) {
      await Locals.$second.withValue(inherited[1]) {
        await Locals.$third.withValue(inherited[2]) {
          await Locals.$fourth.withValue(inherited[3]) {
            await Task {
              await withTaskGroup(of: Void.self) { group in
                Locals.$inBody.withValue(inBody) {
                  let before = counts(inherited), bodyBefore = counts([inBody])
                  for _ in 0..<100 { group.addTask { try? await Task.sleep(nanoseconds: 3_600_000_000_000) } }
                  // CHECK: inherited: true
                  print("inherited:", counts(inherited) == before)
                  // CHECK: in the body: 100
                  print("in the body:", counts([inBody])[0] - bodyBefore[0])
                }
                group.cancelAll()
              }
            }.value
          }
        }
      }
    }
  }
}
