// Threads with real-time priorities, all on one processor.

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

/// Starts a thread that runs `body`, with SCHED_FIFO and this priority if it is not 0.
/// Returns 0, or the error.
int startThread(pthread_t *thread, int priority, void *(*body)(void *)) {
  pthread_attr_t attributes;
  struct sched_param parameter;
  cpu_set_t processors;
  memset(&parameter, 0, sizeof parameter);
  parameter.sched_priority = priority;
  pthread_getaffinity_np(pthread_self(), sizeof processors, &processors);
  for (int i = 0, found = 0; i < CPU_SETSIZE; ++i) {
    if (found)
      CPU_CLR(i, &processors);
    found |= CPU_ISSET(i, &processors);
  }
  pthread_attr_init(&attributes);
  pthread_attr_setaffinity_np(&attributes, sizeof processors, &processors);
  pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
  pthread_attr_setschedpolicy(&attributes, priority ? SCHED_FIFO : SCHED_OTHER);
  pthread_attr_setschedparam(&attributes, &parameter);
  int error = pthread_create(thread, &attributes, body, NULL);
  pthread_attr_destroy(&attributes);
  return error;
}

/// Computes until the thread has used this much processor time.
void useProcessorTime(long milliseconds) {
  struct timespec begin, now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000 +
             (now.tv_nsec - begin.tv_nsec) / 1000000 <
         milliseconds);
}
