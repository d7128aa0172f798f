// A file for swift-format to read. It is not compiled.

struct Point: Hashable, Codable {
  var x: Double, y: Double
  static let origin = Point(x: 0, y: 0)
  func distance(to other: Point) -> Double { ((x - other.x) * (x - other.x) + (y - other.y) * (y - other.y)).squareRoot() }
}

enum Shape { case circle(center: Point, radius: Double), polygon([Point]) }

extension Shape {
  var area: Double {
    switch self {
    case .circle(_, let radius): return 3.14159 * radius * radius
    case .polygon(let points):
      return zip(points, points.dropFirst() + points.prefix(1)).reduce(0) { $0 + $1.0.x * $1.1.y - $1.1.x * $1.0.y } / 2
    }
  }
}
