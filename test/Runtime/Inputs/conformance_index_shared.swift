public protocol SharedProtocol {}
public struct SharedType { public init() {} }
open class SharedBase { public init() {} }
public final class SharedDerived: SharedBase {}
