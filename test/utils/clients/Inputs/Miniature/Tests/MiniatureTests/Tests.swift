// Tests that go well, and tests that go wrong on the runtime that is judged only.
import Foundation
import Miniature
import Testing
import XCTest

private let judged = !ProcessInfo.processInfo.environment["LD_LIBRARY_PATH", default: ""].contains("/runtimes/stock/")

/// Whether a file of this name is made now; the next time it is there.
private func first(_ name: String) -> Bool {
  open(ProcessInfo.processInfo.environment["MINIATURE", default: "/none"] + "/" + name, O_CREAT | O_EXCL, 0o600) >= 0
}

final class Good: XCTestCase {
  func testOne() { XCTAssertEqual(one(), 1) }
  func testAsync() async { await Task.yield() }
  func testSkipped() throws { throw XCTSkip("not here") }
}

final class Wrong: XCTestCase {
  func testAlways() { XCTAssertEqual(one(), 2) }
  func testBefore() {}
  func testCrash() { if judged { fatalError("in the middle") } }
  func testFails() { XCTAssertFalse(judged) }
  func testHang() { if judged { sleep(1000) } }
  func testLater() {}
  func testOnce() { if judged { XCTAssertFalse(first("once")) } }
  func testOutput() { if judged { print("Test Case 'Wrong.testOutput' passed (0.0 seconds)"); XCTFail("a lie") } }
  func testWon() { XCTAssert(judged) }
  func testChild() throws {
    let child = Process()
    child.executableURL = URL(fileURLWithPath: "/bin/sleep")
    child.arguments = ["123456"]
    try child.run()
  }
}

/// A test that fails behind another one only, where it is judged; elsewhere the second time.
final class Behind: XCTestCase {
  nonisolated(unsafe) static var isBehind = false
  func testFirst() { Behind.isBehind = true }
  func testSecond() { if Behind.isBehind && (judged || !first("behind")) { XCTFail("behind") } }
}

final class AtEnd: XCTestCase {
  func testExit() { if judged { atexit { _exit(7) } } }
}

/// A process that ends with status 0 in a test.
final class EndsInside: XCTestCase {
  func testEarly() { if judged { exit(0) } }
  func testLater() {}
}

/// One that does so between two tests.
final class EndsBetween: XCTestCase {
  override class func tearDown() { if judged { exit(0) } }
  func testEarly() {}
}

final class EndsNever: XCTestCase {
  func testLater() {}
}

@Suite struct EndsSuite {
  @Test func early() { if judged { exit(0) } }
  @Test func later() {}
}

@Suite struct GoodSuite {
  @Test(arguments: 1...3) func even(_ number: Int) { #expect(number * 2 % 2 == 0) }
  @Test func waits() async throws { try await Task.sleep(for: .milliseconds(1)) }
  @Test func known() { withKnownIssue { #expect(one() == 2) } }
  @Test(.disabled("not here")) func off() {}
}

private actor Meeting {
  private var number = 0
  /// Whether another one comes meanwhile.
  func meets() async throws -> Bool {
    number += 1
    for _ in 0..<50 where number < 2 { try await Task.sleep(for: .milliseconds(10)) }
    return number == 2
  }
}
private let meeting = Meeting()

@Suite struct TogetherCrash {
  @Test(arguments: [1]) func left(_: Int) async throws { if try await meeting.meets() && judged { fatalError() } }
  @Test func right() async throws { if try await meeting.meets() && judged { fatalError() } }
}

@Suite struct TogetherHang {
  @Test func left() async throws { if try await meeting.meets() && judged { try await Task.sleep(for: .seconds(1000)) } }
  @Test func right() async throws { if try await meeting.meets() && judged { try await Task.sleep(for: .seconds(1000)) } }
}

@Suite struct WrongSuite {
  @Test func crashes() { if judged { fatalError("beside others") } }
  @Test func fails() throws { #expect(!judged) }
  @Test func goes() async throws { try await Task.sleep(for: .milliseconds(20)) }
  @Test func hangs() async throws { if judged { try await Task.sleep(for: .seconds(1000)) } }
}
