// An image with more than a few conformances, so that it gets an index.
#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif
import Shared

extension SharedType: @retroactive SharedProtocol {}
extension SharedBase: @retroactive SharedProtocol {}
extension timeval: @retroactive SharedProtocol {}

struct A: Hashable, Codable, Sendable {}
struct B: Hashable, Codable, Sendable {}
enum C: Int, Hashable, Codable, CaseIterable { case c }
enum D: Int, Hashable, Codable, CaseIterable { case d }
