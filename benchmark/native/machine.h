// What the benchmark programs need of the machine, and Swift cannot reach by itself.

#ifndef BENCHMARK_MACHINE_H
#define BENCHMARK_MACHINE_H

#include <stdint.h>

/// The monotonic clock in nanoseconds; the same one for all processes.
uint64_t machine_now(void);

/// Nanoseconds for which this thread has waited for a core while it could have run.
/// Elsewhere than on Linux an estimate: 1 ms for a preemption of the process.
uint64_t machine_waited(void);

/// Binds this thread to one processor. Returns 0, or an error number.
int machine_pin(int cpu);

/// Resident and virtual memory of this process in bytes.
void machine_memory(uint64_t *resident, uint64_t *virtual_size);

/// The file that a symbol was loaded from, or "".
const char *machine_library(const char *symbol);

#endif
