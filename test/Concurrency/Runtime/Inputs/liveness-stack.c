// Jobs whose stack is taken, and what they must not notice of that.

#define _GNU_SOURCE
#include <alloca.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

// Sleeps where the thread's stack has room for `left` bytes.
__attribute__((noinline)) void sleepAtEndOfStack(size_t left, unsigned us) {
  pthread_attr_t attributes;
  void *end;
  size_t size, guard;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &end, &size);
  pthread_attr_getguardsize(&attributes, &guard);
  pthread_attr_destroy(&attributes);
  char *here = __builtin_frame_address(0);
  usleep(1); // the loader needs more room to bind it
  // What the guard's size is taken for depends on the C library.
  volatile char *room = alloca((size_t)(here - (char *)end) - guard - left);
  room[0] = 1;
  usleep(us);
  room[0] = 2;
}

// Sleeps below frames of a function with a long name. A report has no room for all of them.
#define TIMES8(text) text text text text text text text text
static void sleepBelow(int frames, unsigned us) __asm__("sleepBelow" TIMES8("_abcdefghijklmnopqrstuvwxyz_0"));
__attribute__((noinline)) static void sleepBelow(int frames, unsigned us) {
  if (frames)
    sleepBelow(frames - 1, us);
  else
    usleep(us);
  __asm__ volatile(""); // no tail call
}
void sleepBelowFrames(unsigned us) { sleepBelow(80, us); }

// Whether a call that waits so long is cut short.
__attribute__((noinline)) int isCutShort(int call, int ms) {
  struct timeval wait = {0, ms * 1000};
  struct timespec until;
  sem_t semaphore;
  switch (call) {
  case 0:
    return usleep(ms * 1000) != 0;
  case 1:
    return poll(NULL, 0, ms) != 0;
  case 2:
    return select(0, NULL, NULL, NULL, &wait) != 0;
  default:
    sem_init(&semaphore, 0, 0);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (until.tv_nsec + ms * 1000000) / 1000000000;
    until.tv_nsec = (until.tv_nsec + ms * 1000000) % 1000000000;
    return sem_timedwait(&semaphore, &until) == 0 || errno != ETIMEDOUT;
  }
}

// Without a frame pointer, as most C code of others.
__attribute__((noinline)) uintptr_t spin(int ms) {
  struct timespec now, begin;
  uintptr_t count = 0;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    for (int i = 0; i != 10000; ++i)
      __asm__ volatile("" : "+r"(count));
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1000 +
               (now.tv_nsec - begin.tv_nsec) / 1000000 <
           ms);
  return count;
}
