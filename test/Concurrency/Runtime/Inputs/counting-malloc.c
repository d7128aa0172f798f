// The executable's malloc comes before the C library's, which frees what it returns. It is in
// C: the checks of Swift code call into the runtime, which may be what allocates.

#include "counting-malloc.h"

#include <stddef.h>

extern void *__libc_malloc(size_t size);

static _Thread_local int counts;
static _Thread_local long allocations;

void *malloc(size_t size) {
  if (counts)
    ++allocations;
  return __libc_malloc(size);
}

void startCounting(void) {
  allocations = 0;
  counts = 1;
}

long stopCounting(void) {
  counts = 0;
  return allocations;
}
