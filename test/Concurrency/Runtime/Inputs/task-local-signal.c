#include "task-local-signal.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/time.h>

#define SWIFTCALL __attribute__((swiftcall))

extern SWIFTCALL void *swift_task_localValueGet(const void *key);

static const void *const *keys;
static long keyCount;
static atomic_long signals, wrong;

static pthread_t target;

static void handle(int number) {
  // The kernel prefers the first thread, which takes signals while it waits for the main queue.
  if (!pthread_equal(pthread_self(), target)) {
    pthread_kill(target, number);
    return;
  }
  int isBound = 1;
  for (long n = 0; n < keyCount; n++) {
    const long *value = swift_task_localValueGet(keys[n]);
    if (value && (*value != 1000 + n || !isBound))
      wrong++;
    isBound = value != NULL;
  }
  signals++;
}

static void setTimer(long microseconds) {
  const struct itimerval interval = {{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_REAL, &interval, NULL);
}

// Threads that run tasks block signals.
static void setBlocked(int how) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  pthread_sigmask(how, &set, NULL);
}

void startSignals(const void *const *newKeys, long newCount) {
  keys = newKeys;
  keyCount = newCount;
  signals = 0;
  target = pthread_self();
  signal(SIGALRM, handle);
  setBlocked(SIG_UNBLOCK);
  setTimer(100);
}

void stopSignals(void) {
  setTimer(0);
  setBlocked(SIG_BLOCK);
}

long signalCount(void) { return signals; }
long wrongCount(void) { return wrong; }
