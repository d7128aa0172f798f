// Counts calls of malloc. The program's own malloc comes before that of the C library, for all
// libraries, and passes each call on.

#define _GNU_SOURCE
#include "allocations.h"
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static _Atomic int64_t Allocated, Freed, Asked, Taken;

static void *counted(void *memory, size_t size) {
  if (memory) {
    Allocated++;
    Asked += (int64_t)size;
    Taken += (int64_t)(malloc_usable_size(memory) + sizeof(size_t));
  }
  return memory;
}

void *malloc(size_t size) { return counted(__libc_malloc(size), size); }

void *calloc(size_t count, size_t size) {
  return counted(__libc_calloc(count, size), count * size);
}

void *realloc(void *memory, size_t size) {
  if (memory)
    Freed++;
  return counted(__libc_realloc(memory, size), size);
}

void *memalign(size_t alignment, size_t size) {
  return counted(__libc_memalign(alignment, size), size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  *memory = memalign(alignment, size);
  return *memory ? 0 : ENOMEM;
}

void free(void *memory) {
  if (memory)
    Freed++;
  __libc_free(memory);
}

Allocations allocations(void) {
  return (Allocations){Allocated, Freed, Asked, Taken};
}
