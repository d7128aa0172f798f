#define _GNU_SOURCE
#include "executor-pool-support.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t readClock(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t nowInNanoseconds(void) { return readClock(CLOCK_MONOTONIC); }

uint64_t processorTime(void) { return readClock(CLOCK_PROCESS_CPUTIME_ID); }

int timerSlack(void) { return prctl(PR_GET_TIMERSLACK); }

int processorCount(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

void useProcessors(int count) {
  // Those of the first call: a later one may give some back.
  static cpu_set_t all;
  static int isKnown;
  if (!isKnown && sched_getaffinity(0, sizeof all, &all) != 0)
    abort();
  isKnown = 1;
  cpu_set_t set = all;
  for (int i = 0; i < CPU_SETSIZE; i++)
    if (CPU_ISSET(i, &set) && count-- <= 0)
      CPU_CLR(i, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0)
    abort();
}

int threadNumber(void) { return (int)syscall(SYS_gettid); }

/// How many threads of the process `test` is true of.
static int countThreads(int (*test)(int thread, int value), int value) {
  DIR *folder = opendir("/proc/self/task");
  if (!folder)
    abort();
  int count = 0;
  for (struct dirent *entry; (entry = readdir(folder));) {
    int thread = atoi(entry->d_name);
    if (thread)
      count += test(thread, value);
  }
  closedir(folder);
  return count;
}

static int isAny(int thread, int unused) { return 1; }

int threadCount(void) { return countThreads(isAny, 0); }

static int isOfPool(int thread, int unused) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/comm", thread);
  FILE *file = fopen(path, "r");
  int index;
  int found = file && fscanf(file, "swift-pool-%d", &index) == 1;
  if (file)
    fclose(file);
  return found;
}

int poolThreadCount(void) { return countThreads(isOfPool, 0); }

static int hasNiceness(int thread, int value) {
  errno = 0;
  return getpriority(PRIO_PROCESS, thread) == value && !errno;
}

int threadsOfNiceness(int value) { return countThreads(hasNiceness, value); }

static int sendIfOther(int thread, int signal) {
  return thread != threadNumber() && !syscall(SYS_tgkill, getpid(), thread, signal);
}

void signalThreads(int signal) { countThreads(sendIfOther, signal); }

uint64_t stackSize(void) {
  pthread_attr_t attributes;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0 ||
      pthread_attr_getstacksize(&attributes, &size) != 0)
    abort();
  pthread_attr_destroy(&attributes);
  return size;
}

int blocksSignal(int signal) {
  sigset_t set;
  if (pthread_sigmask(SIG_SETMASK, NULL, &set) != 0)
    abort();
  return sigismember(&set, signal);
}

long residentMemory(void) {
  long size = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &size, &resident) != 2)
    abort();
  fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

int forkProcess(void) {
  fflush(NULL);
  return fork();
}

void exitQuickly(int status) { quick_exit(status); }

int waitForChild(int child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      abort();
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

int runProcess(const char *const *words) {
  int child = forkProcess();
  if (child < 0)
    abort();
  if (child == 0) {
    execvp(words[0], (char *const *)words);
    _exit(127);
  }
  int status = waitForChild(child);
  return status < 0 ? -1 : status;
}

int64_t *sharedNumbers(int count) {
  void *memory = mmap(NULL, sizeof(int64_t) * (size_t)count, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    abort();
  return memory;
}

int64_t addToShared(int64_t *number, int64_t value) {
  return __atomic_add_fetch(number, value, __ATOMIC_ACQ_REL);
}

// The executable's pthread_create comes before the C library's for all libraries. A
// sanitizer has to know each thread, and has a function of its own in the executable.
__attribute__((weak)) int __interceptor_pthread_create(
    pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static atomic_int allowed = -1, refused;

void allowThreads(int count) { atomic_store(&allowed, count); }

int refusedThreads(void) { return atomic_load(&refused); }

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*body)(void *), void *argument) {
  typedef int (*Create)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                        void *);
  static _Atomic(Create) real;
  Create create = atomic_load_explicit(&real, memory_order_relaxed);
  if (!create) {
    create = __interceptor_pthread_create;
    if (!create)
      create = (Create)dlsym(RTLD_NEXT, "pthread_create");
    atomic_store_explicit(&real, create, memory_order_relaxed);
  }
  for (int left = atomic_load(&allowed); left >= 0;) {
    if (left == 0) {
      atomic_fetch_add(&refused, 1);
      return EAGAIN;
    }
    if (atomic_compare_exchange_weak(&allowed, &left, left - 1))
      break;
  }
  return create(thread, attributes, body, argument);
}

static char watched[128];

static void endLate(int signal) {
  (void)signal;
  static const char text[] = "not ended in time: ";
  ssize_t done = write(2, text, sizeof text - 1);
  done += write(2, watched, strlen(watched));
  done += write(2, "\n", 1);
  _exit(done < 0 ? 98 : 99);
}

void watch(const char *place, int seconds) {
  alarm(0);
  strncpy(watched, place, sizeof watched - 1);
  struct sigaction action = {.sa_handler = endLate};
  sigaction(SIGALRM, &action, NULL);
  // A thread of an executor must not be the only one that could take it.
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  alarm((unsigned)seconds);
}
