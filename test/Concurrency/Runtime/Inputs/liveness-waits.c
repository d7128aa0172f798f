// What the monitor must not wait for.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "swift_liveness.h"

double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + now.tv_nsec / 1e9;
}

// A child that ends at once. Returns the milliseconds that fork took.
int forkAndWait(void) {
  double begin = seconds();
  pid_t child = fork();
  if (child == 0)
    _exit(0);
  int took = (int)((seconds() - begin) * 1000);
  waitpid(child, NULL, 0);
  return took;
}

// stderr: a full pipe that nobody reads.
static int readEnd, originalStderr;
void fillStderr(void) {
  int ends[2];
  if (pipe(ends))
    abort();
  char page[4096];
  memset(page, '.', sizeof(page));
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  while (write(ends[1], page, sizeof(page)) > 0)
    ;
  fcntl(ends[1], F_SETFL, 0);
  readEnd = ends[0];
  originalStderr = dup(2);
  dup2(ends[1], 2);
}

// Writes what comes out of the pipe for so long to stdout, without the filling.
void drainStderr(int ms) {
  fcntl(readEnd, F_SETFL, O_NONBLOCK);
  double end = seconds() + ms / 1000.0;
  char page[4096];
  while (seconds() < end) {
    ssize_t got = read(readEnd, page, sizeof(page));
    for (ssize_t i = 0; i < got; ++i)
      if (page[i] != '.' || i % 7 == 1)
        putchar(page[i] == '.' ? ' ' : page[i]);
    if (got <= 0)
      usleep(1000);
  }
  fflush(stdout);
  dup2(originalStderr, 2);
}

// A callback that takes a lock, which the program holds meanwhile.
static pthread_mutex_t programLock = PTHREAD_MUTEX_INITIALIZER;
static int calls;
static void takeLock(const swift_liveness_report *report, void *context) {
  pthread_mutex_lock(&programLock);
  ++calls;
  pthread_mutex_unlock(&programLock);
}
static void countThread(const swift_liveness_thread *thread, void *context) {
  ++*(int *)context;
}
void lockAroundQuestions(void) {
  swift_liveness_setCallback(takeLock, NULL);
  pthread_mutex_lock(&programLock);
  usleep(500000); // the callback waits by now
  double begin = seconds();
  swift_liveness_counts counts = {.size = sizeof(counts)};
  swift_liveness_getCounts(&counts);
  int threads = 0;
  swift_liveness_forEachThread(countThread, &threads);
  swift_liveness_check();
  forkAndWait();
  swift_liveness_setCallback(NULL, NULL);
  swift_liveness_setCallback(takeLock, NULL);
  printf("answers after %s, %d stuck, running %d\n",
         seconds() - begin < 0.4 ? "no time" : "too long", (int)counts.stuck,
         swift_liveness_callbackIsRunning());
  pthread_mutex_unlock(&programLock);
  usleep(300000);
  printf("called %s\n", calls ? "yes" : "no");
}

static void forkInCallback(const swift_liveness_report *report, void *context) {
  printf("forked in %s\n", forkAndWait() < 300 ? "time" : "too long");
  fflush(stdout);
}
void setForkingCallback(void) { swift_liveness_setCallback(forkInCallback, NULL); }

// A callback that forks, and returns in the child, too.
static pid_t firstProcess;
static void returnInChild(const swift_liveness_report *report, void *context) {
  if (getpid() != firstProcess) {
    puts("called in the child");
    fflush(stdout);
    _exit(1);
  }
  pid_t child = fork();
  if (child == 0)
    return;
  int status = -1;
  for (int i = 0; i != 300 && !waitpid(child, &status, WNOHANG); ++i)
    usleep(1000);
  printf("the child %s\n", status ? "goes on" : "ended");
  fflush(stdout);
  kill(child, SIGKILL);
}
void setCallbackThatReturnsInChild(void) {
  firstProcess = getpid();
  swift_liveness_setCallback(returnInChild, NULL);
}

// A callback that takes its time, as a log that is flushed.
static void takeTime(const swift_liveness_report *report, void *context) {
  usleep(300000);
  puts("called before the end");
  fflush(stdout);
}
void abortAfterCallback(void) {
  swift_liveness_setCallback(takeTime, NULL);
  swift_liveness_config config = {.size = sizeof(config),
                                  .timeout_ms = 100,
                                  .action = swift_liveness_action_abort,
                                  .quiet = true};
  swift_liveness_start(&config);
}

// A process that may have no more threads.
static bool threadsAreRefused;
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*start)(void *), void *argument) {
  typedef int Create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  static Create *original;
  if (!original)
    original = (Create *)dlsym(RTLD_NEXT, "pthread_create");
  return threadsAreRefused ? EAGAIN
                           : original(thread, attributes, start, argument);
}
void allowThreads(void) { threadsAreRefused = false; }
__attribute__((constructor)) static void refuseThreads(int count, char **words) {
  threadsAreRefused = count > 1 && !strcmp(words[1], "no-threads");
}

// A global executor with room for one job, besides the one that runs.
typedef __attribute__((swiftcall)) void Enqueue(void *job, void *original);
typedef __attribute__((swiftcall)) void RunJob(void *job, void *, void *);
static pthread_mutex_t queueLock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static void *queued[8];
static int count;
static pthread_t worker;
static __attribute__((swiftcall)) void enqueueBounded(void *job, void *original) {
  pthread_mutex_lock(&queueLock);
  while (count && !pthread_equal(pthread_self(), worker))
    pthread_cond_wait(&changed, &queueLock);
  queued[count++] = job;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&queueLock);
}
static void *runQueue(void *argument) {
  RunJob *run = (RunJob *)dlsym(RTLD_DEFAULT, "swift_job_run");
  for (;;) {
    pthread_mutex_lock(&queueLock);
    while (!count)
      pthread_cond_wait(&changed, &queueLock);
    void *job = queued[0];
    memmove(queued, queued + 1, --count * sizeof(*queued));
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&queueLock);
    run(job, NULL, NULL);
  }
}
void useBoundedExecutor(void) {
  pthread_create(&worker, NULL, runQueue, NULL);
  *(Enqueue **)dlsym(RTLD_DEFAULT, "swift_task_enqueueGlobal_hook") =
      enqueueBounded;
}

// What looks at processes ends this one.
void forbidReading(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
              &program))
    puts("no seccomp");
}

// An allocator with a lock, which a stuck job holds.
static pthread_mutex_t heapLock = PTHREAD_MUTEX_INITIALIZER;
static __thread bool holdsHeap;
static bool heapHasLock;
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
static void enterHeap(void) {
  if (!heapHasLock || holdsHeap)
    return;
  pthread_mutex_lock(&heapLock);
  pthread_mutex_unlock(&heapLock);
}
void *malloc(size_t size) {
  enterHeap();
  return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  enterHeap();
  return __libc_calloc(count, size);
}
void *realloc(void *old, size_t size) {
  enterHeap();
  return __libc_realloc(old, size);
}
void free(void *old) {
  enterHeap();
  __libc_free(old);
}
void holdHeap(unsigned us) {
  heapHasLock = holdsHeap = true;
  pthread_mutex_lock(&heapLock);
  usleep(us);
  pthread_mutex_unlock(&heapLock);
  heapHasLock = holdsHeap = false;
}
