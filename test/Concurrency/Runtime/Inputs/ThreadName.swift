import Glibc

/// The name of the calling thread. Those of the pool begin with "swift-pool-".
func threadName() -> String {
  var name = [CChar](repeating: 0, count: 64)
  let file = open("/proc/thread-self/comm", O_RDONLY)
  read(file, &name, 63)
  close(file)
  return String(cString: name)
}
