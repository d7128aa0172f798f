#define _GNU_SOURCE
#include "machine.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

uint64_t machine_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

const char *machine_library(const char *symbol) {
  Dl_info info;
  // By name: the address of an undefined function can be one in the executable.
  void *place = dlsym(RTLD_DEFAULT, symbol);
  return place && dladdr(place, &info) && info.dli_fname ? info.dli_fname : "";
}

#ifdef __linux__
uint64_t machine_waited(void) {
  unsigned long long ran, waited = 0;
  FILE *file = fopen("/proc/thread-self/schedstat", "r");
  if (file && fscanf(file, "%llu %llu", &ran, &waited) != 2)
    waited = 0;
  if (file)
    fclose(file);
  return waited;
}

int machine_pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof(set), &set) ? errno : 0;
}

void machine_memory(uint64_t *resident, uint64_t *virtual_size) {
  unsigned long long pages = 0, resident_pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file && fscanf(file, "%llu %llu", &pages, &resident_pages) != 2)
    pages = resident_pages = 0;
  if (file)
    fclose(file);
  uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE);
  *resident = resident_pages * size;
  *virtual_size = pages * size;
}
#else
uint64_t machine_waited(void) {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw * 1000000ull : 0;
}

// There is no such call on Darwin: the scheduler places the threads.
int machine_pin(int cpu) {
  (void)cpu;
  return 0;
}

void machine_memory(uint64_t *resident, uint64_t *virtual_size) {
  struct rusage usage;
  *virtual_size = 0;
  *resident = getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss : 0;
}
#endif
