#include <stdint.h>

/// What the process has asked malloc for so far, all threads together.
typedef struct {
  int64_t allocations, frees;
  /// What was asked for, and what malloc took for it with its own word.
  int64_t asked, taken;
} Allocations;

Allocations allocations(void);
