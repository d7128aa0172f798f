import Shared

#if PLUGIN0
typealias Late = Late0
let lateNumber = 0
#elseif PLUGIN1
typealias Late = Late1
let lateNumber = 1
#elseif PLUGIN2
typealias Late = Late2
let lateNumber = 2
#elseif PLUGIN3
typealias Late = Late3
let lateNumber = 3
#endif

extension Late: @retroactive Registered {
  public func number() -> Int { lateNumber }
}
