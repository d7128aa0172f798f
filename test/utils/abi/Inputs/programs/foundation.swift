// Foundation and FoundationNetworking: JSON, dates, operations, processes, notifications.
import Foundation
import FoundationNetworking
import FoundationXML

struct Point: Codable, Equatable {
  var x: Double
  var name: String?
}

let points = [Point(x: 1.5, name: "a"), Point(x: -2, name: nil)]
let data = try JSONEncoder().encode(points)
print(try JSONDecoder().decode([Point].self, from: data) == points)
print(ISO8601DateFormatter().string(from: Date(timeIntervalSince1970: 86_400)))

final class Sum: @unchecked Sendable {
  let lock = NSLock()
  var value = 0
  func add(_ number: Int) { lock.withLock { value += number } }
}

let sum = Sum()
await withCheckedContinuation { continuation in
  let queue = OperationQueue()
  let last = BlockOperation { continuation.resume() }
  for i in 1...100 {
    let operation = BlockOperation { sum.add(i) }
    last.addDependency(operation)
    queue.addOperation(operation)
  }
  queue.addOperation(last)
}
print(sum.value)

print(await withCheckedContinuation { continuation in
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/bin/sh")
  process.arguments = ["-c", "exit 3"]
  process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
  try! process.run()
})

let center = NotificationCenter.default
let observer = center.addObserver(forName: .init("name"), object: nil, queue: nil) {
  sum.add(($0.object as? Int)!)
}
center.post(name: .init("name"), object: 50)
center.removeObserver(observer)
print(sum.value)

do {
  // Nobody listens on port 0: the error comes back from the library's own threads.
  _ = try await URLSession.shared.data(from: URL(string: "http://127.0.0.1:0/")!)
} catch {
  print(error is URLError)
}
print(try XMLDocument(xmlString: "<a><b/></a>").rootElement()!.childCount)
