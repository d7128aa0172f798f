// RUN: %target-run-simple-swift( -parse-as-library)
// REQUIRES: executable_test

import Glibc

/// Fails, and thus shows the output: which libraries of the runtime are loaded.
@main struct Main {
  static func main() async {
    let maps = fopen("/proc/self/maps", "r")!
    var line = [CChar](repeating: 0, count: 4096)
    while fgets(&line, Int32(line.count), maps) != nil {
      let text = String(cString: line)
      if text.contains(" r-xp ") {
        print("loaded", text, terminator: "")
      }
    }
    exit(3)
  }
}
