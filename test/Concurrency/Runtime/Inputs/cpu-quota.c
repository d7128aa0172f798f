#define _GNU_SOURCE
#include "cpu-quota.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int reads;
static int processors;

static int count(void) {
  int known = __atomic_load_n(&processors, __ATOMIC_RELAXED);
  if (known)
    return known;
  const char *text = getenv("CPU_QUOTA_PROCESSORS");
  return text ? atoi(text) : 8;
}

int quotaReads(void) { return __atomic_load_n(&reads, __ATOMIC_RELAXED); }

void setProcessors(int count) { __atomic_store_n(&processors, count, __ATOMIC_RELAXED); }

static const char *place(const char *path, char *buffer) {
  const char *folder = getenv("CPU_QUOTA_FOLDER");
  if (!folder || (strcmp(path, "/proc/self/cgroup") && strncmp(path, "/sys/fs/cgroup/", 15)))
    return path;
  __atomic_fetch_add(&reads, 1, __ATOMIC_RELAXED);
  snprintf(buffer, 4096, "%s%s", folder, path);
  return buffer;
}

void writeQuota(const char *path, const char *text) {
  char buffer[4096];
  snprintf(buffer, sizeof(buffer), "%s%s", getenv("CPU_QUOTA_FOLDER"), path);
  int file = syscall(SYS_openat, AT_FDCWD, buffer, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || write(file, text, strlen(text)) < 0)
    abort();
  close(file);
}

int open(const char *path, int flags, ...) {
  char buffer[4096];
  va_list arguments;
  va_start(arguments, flags);
  int mode = flags & O_CREAT ? va_arg(arguments, int) : 0;
  va_end(arguments);
  return syscall(SYS_openat, AT_FDCWD, place(path, buffer), flags, mode);
}

FILE *fopen(const char *path, const char *mode) {
  static FILE *(*next)(const char *, const char *);
  char buffer[4096];
  if (!next)
    next = dlsym(RTLD_NEXT, "fopen");
  return next(place(path, buffer), mode);
}

static void fill(size_t size, cpu_set_t *set) {
  CPU_ZERO_S(size, set);
  for (int i = 0; i != count(); ++i)
    CPU_SET_S(i, size, set);
}

int sched_getaffinity(pid_t thread, size_t size, cpu_set_t *set) {
  fill(size, set);
  return 0;
}
int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set) {
  fill(size, set);
  return 0;
}

long sysconf(int name) {
  static long (*next)(int);
  if (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF)
    return 8;
  if (!next)
    next = dlsym(RTLD_NEXT, "sysconf");
  return next(name);
}
