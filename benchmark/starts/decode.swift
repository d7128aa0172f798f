// Decodes one struct from JSON with Foundation, and ends.

import Foundation

struct Order: Codable {
  struct Item: Codable {
    var name: String
    var price: Double
  }
  var id: Int
  var items: [Item]
  var note: String?
}

@main struct Main {
  static func main() throws {
    let text = #"{"id": 7, "items": [{"name": "tea", "price": 2.5}], "note": null}"#
    let order = try JSONDecoder().decode(Order.self, from: Data(text.utf8))
    precondition(order.id == 7 && order.items[0].price == 2.5)
    print(order.items.count)
  }
}
