#include "support.h"

#include <sys/resource.h>
#include <time.h>

static uint64_t readClock(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t executor_process_time(void) {
  return readClock(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t executor_thread_time(void) {
  return readClock(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t executor_most_memory(void) {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024
                                             : 0;
}

void executor_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}
