// swift-testing and XCTest, run by their own entry points.
import Foundation
import Testing
import XCTest

enum Local { @TaskLocal static var number = 0 }

@Suite struct Sums {
  @Test(arguments: 1...20) func isEven(number: Int) async throws {
    try await Task.sleep(for: .milliseconds(1))
    #expect(number * 2 % 2 == 0)
  }

  @Test func inherits() async {
    await Local.$number.withValue(1) {
      await confirmation { done in
        await Task { #expect(Local.number == 1); done() }.value
      }
    }
  }

  @Test func fails() throws {
    withKnownIssue { #expect(Local.number == 2) }
  }
}

final class Cases: XCTestCase {
  func testWaits() async throws {
    let expectation = expectation(description: "later")
    Task { expectation.fulfill() }
    await fulfillment(of: [expectation], timeout: 10)
  }
  static let allTests = [("testWaits", asyncTest(testWaits))]
}

@main struct Main {
  static func main() async {
    let suite = XCTestSuite(name: "suite")
    let status = await Testing.__swiftPMEntryPoint() as CInt
    print("testing \(status)")
    XCTMain([testCase(Cases.allTests)])
  }
}
