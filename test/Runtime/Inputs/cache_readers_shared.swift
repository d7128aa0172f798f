// What the program and its plugins both know.

public protocol Registered {
  func number() -> Int
}

// Types that conform to Registered once a plugin is loaded.
public struct Late0 { public init() {} }
public struct Late1 { public init() {} }
public struct Late2 { public init() {} }
public struct Late3 { public init() {} }
