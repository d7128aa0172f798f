#include <stddef.h>

/// The bytes that malloc has given out and not got back, in all arenas.
size_t heapInUse(void);
