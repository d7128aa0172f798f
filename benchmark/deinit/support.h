// What the Swift files of the benchmark need of C.

#ifndef DEINIT_SUPPORT_H
#define DEINIT_SUPPORT_H

#include "deinit-modes.h"

#include <stdint.h>

/// Work of a known size: a unit takes about as long as arc4random() does on an
/// M1, 40 ns.
void deinit_ballast(long units);

/// Nanoseconds that the threads of this process have waited for a core while they
/// could have run. Elsewhere than on Linux an estimate: 1 ms for a preemption.
uint64_t deinit_waited(void);

/// Gives the calling thread one core, and all other threads the rest. A kernel may
/// start a woken thread on the core of the thread that woke it, although another is
/// idle (in a virtual machine: the idle one counts as lost to other guests). The
/// drain of an actor then waits until its sender is done, and for stretches of points
/// nothing runs in parallel. With a single core, and elsewhere than on Linux, nothing.
void deinit_keep_apart(void);

/// Keeps memory that was freed in this process. glibc gives it back to the kernel, and
/// the jobs of a large point then pay for page faults that those of a small point do
/// not: that looks like a term o².
void deinit_keep_memory(void);

#endif
