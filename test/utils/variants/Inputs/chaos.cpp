// What the functions of chaos.h do to values and to errno, and the state of this thread's delays.

#include <atomic>
#include <cstdio>

int main() {
  unsigned __int128 wide = 1;
  unsigned small = 5;
  errno = 11;
  bool right = true;
  std::atomic<unsigned> instrumented{1};
  for (int i = 0; i != 5000; ++i) {
    wide = 1;
    __tsan_atomic128_store(&wide, 3, __ATOMIC_RELEASE);
    right &= __tsan_atomic128_compare_exchange_val(&wide, 3, 4, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) == 3;
    right &= __tsan_atomic128_compare_exchange_val(&wide, 3, 5, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) == 4;
    right &= __tsan_atomic128_load(&wide, __ATOMIC_ACQUIRE) == 4;
    right &= __tsan_atomic32_fetch_add(&small, 2, __ATOMIC_RELAXED) == 5;
    right &= __tsan_atomic32_fetch_sub(&small, 2, __ATOMIC_RELAXED) == 7;
    right &= instrumented.fetch_add(1, std::memory_order_relaxed) == unsigned(i) + 1;
    right &= __tsan_atomic32_exchange(&small, 5, __ATOMIC_SEQ_CST) == 5;
  }
  printf("%lu\n", chaos::thisThread.random);
  puts(right && errno == 11 ? "atomic operations are right" : "atomic operations are wrong");
}
