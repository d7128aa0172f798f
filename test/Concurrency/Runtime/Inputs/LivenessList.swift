// Lists of tasks, for tests whose stdout and stderr are the same file.

import Glibc

/// Has the monitor list all tasks, and waits until the list is in the file.
func listTasks() {
  // Both have one position.
  let start = lseek(2, 0, SEEK_CUR), file = open("/proc/self/fd/2", O_RDONLY)
  precondition(start >= 0 && file >= 0, "stderr is no file")
  defer { close(file) }
  kill(getpid(), SIGUSR2)
  var bytes = [UInt8](repeating: 0, count: 4096)
  var end = start, timesQuiet = 0
  for _ in 0..<1200 {
    usleep(50_000)
    let now = lseek(2, 0, SEEK_CUR)
    timesQuiet = now == end ? timesQuiet + 1 : 0
    end = now
    let text = String(decoding: bytes.prefix(max(0, pread(file, &bytes, bytes.count, start))), as: UTF8.self)
    if timesQuiet >= 3, text.contains(" live tasks") || text.contains("\"kind\":\"task\"") { return }
  }
}
