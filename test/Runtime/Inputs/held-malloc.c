#include "held-malloc.h"

#include <semaphore.h>
#include <stddef.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t size);

static _Thread_local int holds;
static sem_t reached, goesOn;

__attribute__((constructor)) static void prepare(void) {
  if (sem_init(&reached, 0, 0) != 0 || sem_init(&goesOn, 0, 0) != 0)
    abort();
}

static void wait(sem_t *semaphore) {
  while (sem_wait(semaphore) != 0) {}
}

void *malloc(size_t size) {
  if (holds && size >= 5000) {
    holds = 0;
    sem_post(&reached);
    wait(&goesOn);
  }
  return __libc_malloc(size);
}

void holdLargeAllocations(void) { holds = 1; }
void reachAllocation(void) { sem_post(&reached); }
void waitForAllocation(void) { wait(&reached); }
void continueAllocations(void) { sem_post(&goesOn); }
