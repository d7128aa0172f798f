// What the program and its plugin both know.

public protocol Named {
  func name() -> String
}

/// Conforms to Named once the plugin is loaded.
open class Base { public init() {} }
