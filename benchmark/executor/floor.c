// What the machine itself takes to pass something from one thread to another, and what the
// parts of a queue cost: the floor of every executor.
//
//   floor        prints lines of NAME<tab>NANOSECONDS

#define _GNU_SOURCE
#include "machine.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { Line = 128 };

typedef struct {
  int processors[2];
  long count;
  alignas(Line) atomic_int turn;
  alignas(Line) atomic_long word;
  alignas(Line) pthread_mutex_t mutex;
  alignas(Line) long list;
  alignas(Line) pthread_barrier_t begin;
} Shared;

typedef struct {
  Shared *shared;
  int number;
  void (*body)(Shared *shared, int number);
  uint64_t ended;
} Side;

static void pause_(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static void passLine(Shared *shared, int number) {
  for (long i = 0; i < shared->count; i++) {
    while (atomic_load_explicit(&shared->turn, memory_order_acquire) != number)
      pause_();
    atomic_store_explicit(&shared->turn, !number, memory_order_release);
  }
}

static void passFutex(Shared *shared, int number) {
  for (long i = 0; i < shared->count; i++) {
    while (atomic_load_explicit(&shared->turn, memory_order_acquire) != number)
      syscall(SYS_futex, &shared->turn, FUTEX_WAIT_PRIVATE, !number, NULL);
    atomic_store_explicit(&shared->turn, !number, memory_order_release);
    syscall(SYS_futex, &shared->turn, FUTEX_WAKE_PRIVATE, 1);
  }
}

static void addToWord(Shared *shared, int number) {
  (void)number;
  for (long i = 0; i < shared->count; i++)
    atomic_fetch_add(&shared->word, 1);
}

// What an injection queue does for a job: a lock, and some words of the list.
static void lockList(Shared *shared, int number) {
  (void)number;
  for (long i = 0; i < shared->count; i++) {
    pthread_mutex_lock(&shared->mutex);
    shared->list += i;
    pthread_mutex_unlock(&shared->mutex);
  }
}

static void *run(void *argument) {
  Side *side = argument;
  machine_pin(side->shared->processors[side->number]);
  pthread_barrier_wait(&side->shared->begin);
  side->body(side->shared, side->number);
  side->ended = machine_now();
  return NULL;
}

/// Nanoseconds of one operation, of which each of `sides` threads does `count`.
static double measure(void (*body)(Shared *, int), int sides, long count,
                      const int *processors) {
  static Shared shared;
  shared.processors[0] = processors[0];
  shared.processors[1] = processors[1];
  shared.count = count;
  atomic_store(&shared.turn, 0);
  pthread_mutex_init(&shared.mutex, NULL);
  pthread_barrier_init(&shared.begin, NULL, (unsigned)sides + 1);
  Side side[2];
  pthread_t threads[2];
  for (int i = 0; i < sides; i++) {
    side[i] = (Side){&shared, i, body, 0};
    if (pthread_create(&threads[i], NULL, run, &side[i]) != 0)
      abort();
  }
  pthread_barrier_wait(&shared.begin);
  uint64_t start = machine_now(), end = start;
  for (int i = 0; i < sides; i++) {
    pthread_join(threads[i], NULL);
    if (side[i].ended > end)
      end = side[i].ended;
  }
  pthread_barrier_destroy(&shared.begin);
  return (double)(end - start) / (double)(sides * count);
}

int main(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    abort();
  int processors[2] = {-1, -1}, found = 0;
  for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
    if (CPU_ISSET(i, &set))
      processors[found++] = i;
  if (found == 2) {
    printf("line\t%.2f\n", measure(passLine, 2, 2000000, processors));
    printf("futex\t%.2f\n", measure(passFutex, 2, 10000, processors));
    printf("add-shared\t%.2f\n", measure(addToWord, 2, 5000000, processors));
    printf("lock-shared\t%.2f\n", measure(lockList, 2, 2000000, processors));
  }
  const int same[2] = {processors[0], processors[0]};
  printf("futex-same\t%.2f\n", measure(passFutex, 2, 20000, same));
  printf("add\t%.2f\n", measure(addToWord, 1, 20000000, same));
  printf("lock\t%.2f\n", measure(lockList, 1, 20000000, same));
  return 0;
}
