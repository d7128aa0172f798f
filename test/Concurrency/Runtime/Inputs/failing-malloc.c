// The executable's malloc comes before the C library's, which frees what it returns.

#define _GNU_SOURCE
#include "failing-malloc.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static _Thread_local long countdown;
static _Thread_local int hasFailed;
static _Thread_local int onlyAligned;

static int fails(void) {
  if (countdown == 0 || --countdown != 0)
    return 0;
  hasFailed = 1;
  return 1;
}

void *malloc(size_t size) {
  if (onlyAligned || !fails())
    return __libc_malloc(size);
  errno = ENOMEM;
  return NULL;
}

void *realloc(void *memory, size_t size) {
  if (onlyAligned || !fails())
    return __libc_realloc(memory, size);
  errno = ENOMEM;
  return NULL;
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  *memory = fails() ? NULL : __libc_memalign(alignment, size);
  return *memory ? 0 : ENOMEM;
}

// Only of the libraries of Swift: the C library calls its own.
void *mmap(void *address, size_t size, int protection, int flags, int file,
           off_t offset) {
  if (!fails())
    return (void *)syscall(SYS_mmap, address, size, protection, flags, file,
                           offset);
  errno = ENOMEM;
  return MAP_FAILED;
}

void failMalloc(long number) {
  hasFailed = 0;
  onlyAligned = 0;
  countdown = number;
}

void failAlignedMalloc(long number) {
  failMalloc(number);
  onlyAligned = 1;
}

int stopFailingMalloc(void) {
  countdown = 0;
  return hasFailed;
}
