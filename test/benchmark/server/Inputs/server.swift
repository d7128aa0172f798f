// A server that goes wrong: server http MODE [port=N]. It answers one connection in each thread.
import Foundation

let mode = CommandLine.arguments[2]
let port = CommandLine.arguments.last!.split(separator: "=").last.flatMap { UInt16($0) } ?? 0
setvbuf(stdout, nil, _IOLBF, 0)

let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
var address = sockaddr_in()
address.sin_family = sa_family_t(AF_INET)
address.sin_port = port.bigEndian
address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
let size = socklen_t(MemoryLayout<sockaddr_in>.size)
let bound = withUnsafePointer(to: &address) {
  $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, size) }
}
guard bound == 0, listen(listener, 64) == 0 else {
  FileHandle.standardError.write(Data("error: \(String(cString: strerror(errno)))\n".utf8))
  exit(2)
}
if mode == "silent" { while true { sleep(100) } }
var length = size
_ = withUnsafeMutablePointer(to: &address) {
  $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
}
print("ready \(UInt16(bigEndian: address.sin_port))")

Thread.detachNewThread {
  while readLine() != nil { print(#"{"cpu_us": 1, "voluntary": 1, "rss_kb": 1024}"#) }
  exit(0)
}
nonisolated(unsafe) var answered = 0
let lock = NSLock()
while true {
  let connection = accept(listener, nil, nil)
  Thread.detachNewThread {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while read(connection, &buffer, buffer.count) > 0 {
      lock.lock()  // one request at a time
      answered += 1
      if mode == "dies" && answered == 50 { fatalError("under load") }
      if mode == "stalls" && answered == 300 { usleep(400_000) }
      let body = mode == "wrong" ? #"{"id": "request-7"}"# : #"{"id": ""}"#
      let status = mode == "refuses" && answered > 20 ? "503 No" : "200 OK"
      let text = "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
      _ = text.withCString { write(connection, $0, strlen($0)) }
      lock.unlock()
    }
    close(connection)
  }
}
