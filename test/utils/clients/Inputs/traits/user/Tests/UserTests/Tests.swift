import Extra
import Testing

@Test func whole() { #expect(isWhole) }
