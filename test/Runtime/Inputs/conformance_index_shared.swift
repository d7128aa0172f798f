public protocol SharedProtocol {}
public struct SharedType { public init() {} }
open class SharedBase { public init() {} }
public final class SharedDerived: SharedBase {}

public protocol AnsweringProtocol { var answer: Int { get } }
public struct Twice0 { public init() {} }
public struct Twice1 { public init() {} }
public struct Twice2 { public init() {} }
public struct Twice3 { public init() {} }
