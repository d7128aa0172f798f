// A malloc that counts the allocations of one thread.

#ifndef COUNTING_MALLOC_H
#define COUNTING_MALLOC_H

/// Count the allocations of this thread from now on.
void startCounting(void);

/// Count no more. Returns how many there were since startCounting.
long stopCounting(void);

#endif
