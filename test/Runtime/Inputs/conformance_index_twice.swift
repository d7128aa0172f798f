// The same conformances in two images, which differ in what they answer.

import Shared

#if FIRST
private let image = 1
#else
private let image = 2
#endif

extension Twice0: @retroactive AnsweringProtocol { public var answer: Int { image } }
extension Twice1: @retroactive AnsweringProtocol { public var answer: Int { image } }
extension Twice2: @retroactive AnsweringProtocol { public var answer: Int { image } }
extension Twice3: @retroactive AnsweringProtocol { public var answer: Int { image } }

// Enough records for an index.
struct A: Hashable, Codable, Sendable {}
struct B: Hashable, Codable, Sendable {}
enum C: Int, Hashable, Codable, CaseIterable { case c }
enum D: Int, Hashable, Codable, CaseIterable { case d }
