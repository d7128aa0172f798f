#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "support.h"

#include <dirent.h>
#include <limits.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef __linux__
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>
#endif
#include <stdio.h>
#include <sys/resource.h>

// The arc4random() of glibc cannot serve: depending on kernel and version it is a
// system call of some hundreds of ns. This touches no memory and takes no lock,
// and the assembler statement keeps it from being removed.
void deinit_ballast(long units) {
  for (long unit = 0; unit < units; unit++) {
    uint64_t x = (uint64_t)unit;
    for (int i = 0; i < 48; i++) {
      x = x * 6364136223846793005u + 1442695040888963407u;
      __asm__ volatile("" : "+r"(x));
    }
  }
}

#ifdef __linux__
uint64_t deinit_waited(void) {
  uint64_t sum = 0;
  DIR *threads = opendir("/proc/self/task");
  for (struct dirent *entry; threads && (entry = readdir(threads));) {
    char path[300];
    unsigned long long ran, waited;
    snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat", entry->d_name);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%llu %llu", &ran, &waited) == 2)
      sum += waited;
    if (file)
      fclose(file);
  }
  if (threads)
    closedir(threads);
  return sum;
}
#else
uint64_t deinit_waited(void) {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw * 1000000ull : 0;
}
#endif

#ifdef __linux__
void deinit_keep_apart(void) {
  static cpu_set_t allowed;
  if (CPU_COUNT(&allowed) == 0 && sched_getaffinity(getpid(), sizeof(allowed), &allowed) != 0)
    return;
  if (CPU_COUNT(&allowed) < 2)
    return;
  int first = 0;
  while (!CPU_ISSET(first, &allowed))
    first++;
  cpu_set_t own, others = allowed;
  CPU_ZERO(&own);
  CPU_SET(first, &own);
  CPU_CLR(first, &others);
  DIR *threads = opendir("/proc/self/task");
  for (struct dirent *entry; threads && (entry = readdir(threads));) {
    pid_t thread = atoi(entry->d_name);
    if (thread > 0)
      sched_setaffinity(thread, sizeof(own), thread == gettid() ? &own : &others);
  }
  if (threads)
    closedir(threads);
}
#else
void deinit_keep_apart(void) {}
#endif

void deinit_keep_memory(void) {
#ifdef __GLIBC__
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  // As much as an arena can grow by at once.
  mallopt(M_TOP_PAD, 64 << 20);
  // The array of the objects, too, comes from the heap.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
}
