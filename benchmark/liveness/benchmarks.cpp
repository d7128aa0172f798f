// What the liveness monitor costs the threads that it watches: the rows of a monitor
// that a program calls itself, by their names, and what the runtime does on its own.

#include "swift_liveness.h"

#include <algorithm>
#include <atomic>
#include <benchmark/benchmark.h>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <time.h>
#include <vector>

// ==== The monitor ============================================================

static void start(uint32_t timeoutMs, uint32_t intervalMs = 0) {
  swift_liveness_config config = {};
  config.size = sizeof(config);
  config.timeout_ms = timeoutMs;
  config.interval_ms = intervalMs;
  config.rate = 1000; // else short timeouts wait for their turn
  config.quiet = true;
  if (!swift_liveness_start(&config)) {
    fputs("the monitor does not start\n", stderr);
    exit(1);
  }
}

static void stop(const benchmark::State &) { swift_liveness_stop(); }

/// The monitor looks at the threads every 100 ms, as it does by default.
static void startAsUsual(const benchmark::State &) { start(1000); }

/// The monitor itself looks once an hour.
static void startWithoutLooks(const benchmark::State &) {
  start(24 * 60 * 60 * 1000, 60 * 60 * 1000);
}

static void onThreads(benchmark::internal::Benchmark *rows) {
  for (int count : {1, 4, 8, 16, 32, 64, 128, 1024})
    rows->Threads(count);
}

// ==== Scopes and checkpoints =================================================

static void BM_ConcurrentCreateDelete(benchmark::State &state) {
  for (auto _ : state) {
    swift::LivenessScope scope("benchmark");
    benchmark::DoNotOptimize(scope);
  }
}
BENCHMARK(BM_ConcurrentCreateDelete)
    ->Apply(onThreads)
    ->Setup(startAsUsual)
    ->Teardown(stop);

/// A thread that begins, has one scope and ends: as others register a thread.
static void BM_RegisterThread(benchmark::State &state) {
  for (auto _ : state)
    std::thread([] { swift::LivenessScope scope("benchmark"); }).join();
}
BENCHMARK(BM_RegisterThread)->Setup(startAsUsual)->Teardown(stop);

/// The same without a scope: what the thread costs itself.
static void BM_ThreadAlone(benchmark::State &state) {
  for (auto _ : state)
    std::thread([] {}).join();
}
BENCHMARK(BM_ThreadAlone)->Setup(stop);

static void BM_Checkpoint(benchmark::State &state) {
  swift::LivenessScope scope("benchmark");
  uint64_t id = 0;
  for (auto _ : state)
    scope.checkpoint(++id);
}
BENCHMARK(BM_Checkpoint)->Apply(onThreads)->Setup(startAsUsual)->Teardown(stop);

/// Without a scope at hand.
static void BM_CheckpointByCall(benchmark::State &state) {
  uint64_t id = 0;
  for (auto _ : state)
    swift_liveness_checkpoint(++id);
}
BENCHMARK(BM_CheckpointByCall)
    ->Apply(onThreads)
    ->Setup(startAsUsual)
    ->Teardown(stop);

/// Each thread is watched, and looks at all of them.
static void BM_GCAndMonitor(benchmark::State &state) {
  swift::LivenessScope scope("benchmark");
  for (auto _ : state)
    swift_liveness_check();
}
BENCHMARK(BM_GCAndMonitor)
    ->Threads(1)
    ->Threads(8)
    ->Threads(32)
    ->Threads(64)
    ->Threads(128)
    ->Threads(256)
    ->Threads(512)
    ->Threads(1024)
    ->Setup(startAsUsual)
    ->Teardown(stop);

// ==== Jobs ===================================================================

namespace {

/// A job that is not a task, as swift/ABI/Task.h lays it out.
struct alignas(2 * sizeof(void *)) Job {
  const void *Metadata;
  uintptr_t References = 0;
  void *SchedulerPrivate[2] = {};
  uint32_t Flags;
  uint32_t Id = 0;
  void *Voucher = nullptr;
  void *Reserved = nullptr;
  __attribute__((swiftasynccall)) void (*Run)(Job *);
};

} // namespace

extern "C" const void *_swift_concurrency_debug_jobMetadata;
extern "C" __attribute__((swiftcall)) void
swift_job_run(Job *job, void *executor, void *implementation);

__attribute__((swiftasynccall)) static void doNothing(Job *job) {
  benchmark::DoNotOptimize(job);
}

static void BM_Job(benchmark::State &state) {
  constexpr uint32_t nullaryContinuation = 195;
  Job job;
  job.Metadata = _swift_concurrency_debug_jobMetadata;
  job.Flags = nullaryContinuation;
  job.Run = doNothing;
  for (auto _ : state)
    swift_job_run(&job, nullptr, nullptr);
}

BENCHMARK(BM_Job)->Apply(onThreads)->Setup(stop);

static void BM_JobWithMonitor(benchmark::State &state) { BM_Job(state); }
BENCHMARK(BM_JobWithMonitor)
    ->Apply(onThreads)
    ->Setup(startAsUsual)
    ->Teardown(stop);

// ==== Looking ================================================================

namespace {

/// Threads that are in a scope.
class Watched {
  std::mutex Lock;
  std::condition_variable Changed;
  unsigned Inside = 0;
  bool Leave = false;
  std::vector<std::thread> Threads;

  void stay() {
    swift::LivenessScope scope("watched");
    std::unique_lock<std::mutex> lock(Lock);
    ++Inside;
    Changed.notify_all();
    Changed.wait(lock, [&] { return Leave; });
  }

public:
  explicit Watched(unsigned count) {
    for (unsigned i = 0; i != count; ++i)
      Threads.emplace_back([this] { stay(); });
    std::unique_lock<std::mutex> lock(Lock);
    Changed.wait(lock, [&] { return Inside == count; });
  }

  ~Watched() {
    {
      std::lock_guard<std::mutex> lock(Lock);
      Leave = true;
    }
    Changed.notify_all();
    for (auto &thread : Threads)
      thread.join();
  }
};

} // namespace

/// One look of the monitor at so many threads, all in a scope.
static void BM_Scan(benchmark::State &state) {
  Watched watched(state.range(0));
  for (auto _ : state)
    swift_liveness_check();
}
BENCHMARK(BM_Scan)
    ->Arg(1024)
    ->Setup(startWithoutLooks)
    ->Teardown(stop);

static double seconds() {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + now.tv_nsec / 1e9;
}

static std::atomic<double> ReportedAt;

/// From the begin of a scope until it is reported as stuck.
static void BM_Detection(benchmark::State &state) {
  auto timeoutMs = static_cast<unsigned>(state.range(0));
  start(timeoutMs);
  swift_liveness_setCallback(
      [](const swift_liveness_report *report, void *) {
        if (report->kind == swift_liveness_report_stuck)
          ReportedAt = seconds();
      },
      nullptr);
  double worst = 0;
  unsigned round = 0;
  for (auto _ : state) {
    // The begin is anywhere between two looks.
    std::this_thread::sleep_for(
        std::chrono::microseconds(timeoutMs * (++round * 137 % 250)));
    ReportedAt = 0;
    swift::LivenessScope scope("stuck");
    double began = seconds();
    while (ReportedAt == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    state.SetIterationTime(ReportedAt - began);
    worst = std::max(worst, ReportedAt - began);
  }
  state.counters["worst_ms"] = worst * 1e3;
  swift_liveness_setCallback(nullptr, nullptr);
}
BENCHMARK(BM_Detection)
    ->Arg(20)
    ->Arg(50)
    ->Arg(100)
    ->Arg(1000)
    ->Iterations(10)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Teardown(stop);

int main(int argc, char **argv) {
  if (!swift_liveness_isAvailable()) {
    fputs("this runtime has no liveness monitor\n", stderr);
    return 1;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 1;
  benchmark::RunSpecifiedBenchmarks();
}
