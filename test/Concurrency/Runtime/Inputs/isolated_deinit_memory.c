#include <malloc.h>

// Bytes that are allocated, and not what the allocator keeps.
long allocatedBytes(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}
