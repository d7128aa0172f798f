// A malloc, a posix_memalign and an mmap of which one fails, when a test says so.

#ifndef FAILING_MALLOC_H
#define FAILING_MALLOC_H

/// Let the `number`-th allocation fail that this thread makes from now on, from 1; 0: none.
void failMalloc(long number);

/// The same of those allocations that ask for an alignment.
void failAlignedMalloc(long number);

/// Let no allocation fail from now on. Returns 1 if one has failed.
int stopFailingMalloc(void);

#endif
