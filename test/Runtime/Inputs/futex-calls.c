#include "futex-calls.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/syscall.h>

enum { operations = 16, optionBits = 128 | 256 };

static atomic_long counts[operations];

long futexCalls(int operation) {
  if (operation >= 0)
    return counts[operation];
  long sum = 0;
  for (int i = 0; i < operations; i++)
    sum += counts[i];
  return sum;
}

// In place of the C library's, for libraries as well.
long syscall(long number, ...) {
  static long (*next)(long, ...);
  if (!next)
    next = (long (*)(long, ...))dlsym((void *)-1L, "syscall"); // RTLD_NEXT
  va_list arguments;
  va_start(arguments, number);
  long values[6];
  for (int i = 0; i < 6; i++)
    values[i] = va_arg(arguments, long);
  va_end(arguments);
  if (number == SYS_futex)
    counts[values[1] & ~optionBits & (operations - 1)]++;
  return next(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}
