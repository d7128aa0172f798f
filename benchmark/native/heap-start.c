// Begins the heap at another place in each process. Where blocks lie decides a copy of
// 4 KB by 10 % and more in one process of twenty, and it is the same place whenever a
// program allocates the same: one runtime would seem slower for what its tables take.

#include <stdlib.h>
#include <sys/auxv.h>

void *firstBlock;

__attribute__((constructor)) static void startHeap(void) {
  const unsigned char *random = (const unsigned char *)getauxval(AT_RANDOM);
  firstBlock = malloc(16 + 16 * (size_t)random[0]);
}
