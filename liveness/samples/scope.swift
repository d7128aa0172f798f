// As scope.c, in Swift: beside LivenessScope.swift, with -I liveness/include.

import CLiveness
import Glibc

@main struct Main {
  static func main() {
    var config = swift_liveness_config()
    config.size = MemoryLayout<swift_liveness_config>.size
    config.timeout_ms = 100
    config.quiet = true
    guard swift_liveness_start(&config) else { return print("this runtime has no monitor") }
    swift_liveness_setCallback({ report, _ in fputs(report!.pointee.text, stdout) }, nil)
    withLivenessScope("sample") { scope in
      for id in 1...3 { scope.checkpoint(UInt64(id)) }
      usleep(1_000_000)
    }
    usleep(1_000_000)
  }
}
