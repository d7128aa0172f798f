// Included before each C++ file of the variant `chaos`, whose atomic operations are calls of these
// functions. Before each, a thread may yield, sleep for a moment or spin; or it is slow for a
// while, as one of low priority. That depends on SWIFT_CHAOS_SEED and on which thread it is: they
// have numbers as they come. So a seed replays the delays, and not the whole schedule.
// With SWIFT_CHAOS_SLEEP=0 a thread yields where it would sleep, and none is slow for a while: for
// tests of what one that waits in the kernel has for a consequence, such as another thread that
// stands in for it. Beside programs that compute, each yield takes milliseconds.
//
// The orders are those of the code: a stronger one would hide what the processor does.

#ifndef SWIFT_CHAOS_H
#define SWIFT_CHAOS_H

#include <cerrno>
#include <cstdlib>
#include <sched.h>
#include <time.h>

// One copy in each library, which nothing outside sees.
#define CHAOS_SHARED __attribute__((weak, used, visibility("hidden")))
#define CHAOS extern "C" CHAOS_SHARED __attribute__((disable_sanitizer_instrumentation))

namespace chaos {
struct Thread {
  unsigned long random;
  unsigned slow;
  bool sleeps;
};
CHAOS_SHARED unsigned long threads;
CHAOS_SHARED __thread Thread thisThread;
} // namespace chaos

CHAOS void chaos_step() {
  auto &thread = chaos::thisThread;
  auto x = thread.random;
  if (!x) {
    auto *seed = getenv("SWIFT_CHAOS_SEED"), *sleep = getenv("SWIFT_CHAOS_SLEEP");
    thread.sleeps = !sleep || *sleep != '0';
    auto number = __atomic_add_fetch(&chaos::threads, 1, __ATOMIC_RELAXED);
    x = ((seed ? strtoul(seed, nullptr, 10) : 1) * 0x9E3779B97F4A7C15 + number) * 0xBF58476D1CE4E5B9 | 1;
  }
  x ^= x << 13, x ^= x >> 7, x ^= x << 17;
  thread.random = x;
  unsigned what = x >> 40 & 4095, howLong = x >> 20 & 0xFFFF;
  auto error = errno;
  if (thread.slow)
    --thread.slow;
  if (what < 8 && thread.sleeps) {
    struct timespec time = {0, long(howLong)};
    nanosleep(&time, nullptr);
  } else if (what < 64 || (thread.slow && what < 512)) {
    sched_yield();
  } else if (what < 128) {
    for (volatile unsigned i = howLong & 1023; i; i = i - 1)
      ;
  } else if (what == 128 && thread.sleeps) {
    thread.slow = 2000;
  }
  errno = error;
}

// The interface of the instrumentation; an order is that of __ATOMIC_*.
#define CHAOS_CHANGE(BITS, T, NAME, BUILTIN)                                                                           \
  CHAOS T __tsan_atomic##BITS##_##NAME(volatile T *a, T value, int order) {                                            \
    chaos_step();                                                                                                      \
    return BUILTIN(a, value, order);                                                                                   \
  }
#define CHAOS_ATOMICS(BITS, T)                                                                                         \
  CHAOS T __tsan_atomic##BITS##_load(const volatile T *a, int order) {                                                 \
    chaos_step();                                                                                                      \
    return __atomic_load_n(a, order);                                                                                  \
  }                                                                                                                    \
  CHAOS void __tsan_atomic##BITS##_store(volatile T *a, T value, int order) {                                          \
    chaos_step();                                                                                                      \
    __atomic_store_n(a, value, order);                                                                                 \
  }                                                                                                                    \
  CHAOS T __tsan_atomic##BITS##_compare_exchange_val(volatile T *a, T expected, T value, int order, int failure) {     \
    chaos_step();                                                                                                      \
    __atomic_compare_exchange_n(a, &expected, value, false, order, failure);                                           \
    return expected;                                                                                                   \
  }                                                                                                                    \
  CHAOS_CHANGE(BITS, T, exchange, __atomic_exchange_n)                                                                 \
  CHAOS_CHANGE(BITS, T, fetch_add, __atomic_fetch_add)                                                                 \
  CHAOS_CHANGE(BITS, T, fetch_sub, __atomic_fetch_sub)                                                                 \
  CHAOS_CHANGE(BITS, T, fetch_and, __atomic_fetch_and)                                                                 \
  CHAOS_CHANGE(BITS, T, fetch_or, __atomic_fetch_or)                                                                   \
  CHAOS_CHANGE(BITS, T, fetch_xor, __atomic_fetch_xor)
CHAOS_ATOMICS(8, unsigned char)
CHAOS_ATOMICS(16, unsigned short)
CHAOS_ATOMICS(32, unsigned)
CHAOS_ATOMICS(64, unsigned long)
CHAOS_ATOMICS(128, unsigned __int128)

CHAOS void __tsan_atomic_thread_fence(int order) {
  chaos_step();
  __atomic_thread_fence(order);
}
CHAOS void __tsan_atomic_signal_fence(int order) { __atomic_signal_fence(order); }
CHAOS void __tsan_init() {}

#endif // SWIFT_CHAOS_H
