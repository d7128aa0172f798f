import Shared

extension Base: @retroactive Named {
  public func name() -> String { "base" }
}
