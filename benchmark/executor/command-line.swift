// executor-rows --list                  prints NAME<tab>TEXT of each row
// executor-rows ROW [--operations N] [--signalled]
//
// Prints the path of the runtime's library, and lines of FIGURE<tab>VALUE. With --signalled it
// says `ready` when it has warmed up, and waits for a line, so that it can be watched from
// outside.

import Glibc

@main struct Main {
  static func main() async {
    var words = CommandLine.arguments.dropFirst()
    guard let name = words.popFirst() else { usage() }
    if name == "--list" {
      for row in rows { print("\(row.name)\t\(row.text)") }
      return
    }
    guard let row = rows.first(where: { $0.name == name }) else { usage() }
    var count = row.count
    var isSignalled = false
    while let word = words.popFirst() {
      switch word {
      case "--signalled": isSignalled = true
      case "--operations":
        guard let number = words.popFirst().flatMap({ Int($0) }), number > 0 else { usage() }
        count = number
      default: usage()
      }
    }
    // What comes first pays for threads, caches and pages.
    _ = await row.run(max(1, row.count / 10))
    if isSignalled {
      print("ready\t\(getpid())\t\(row.count)")
      fflush(stdout)
      _ = readLine()
    }
    let figures = await row.run(count)
    print("library\t\(String(cString: machine_library("swift_task_create")))")
    for (name, value) in figures { print("\(name)\t\(value)") }
    // Nothing of what other threads still do is to be seen.
    fflush(stdout)
    _exit(0)
  }

  static func usage() -> Never {
    print("usage: executor-rows ROW [--operations N] [--signalled]")
    exit(2)
  }
}
