final class Leaked {}

@inline(never)
func leak() {
  _ = Unmanaged.passRetained(Leaked())
}

@main
struct Main {
  static func main() async {
    if CommandLine.arguments[1] == "object" {
      leak()
    } else {
      let task = Task { try? await Task.sleep(nanoseconds: 1_000_000_000_000) }
      try! await Task.sleep(nanoseconds: 50_000_000)
      task.cancel()
      await task.value
    }
    print("slept")
  }
}
