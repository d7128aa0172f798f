#include "heap-in-use.h"
#include <malloc.h>

// It tells of all arenas, whatever its manual page says, and of what is mapped for one
// allocation.
size_t heapInUse(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}
