// What the Swift files of the benchmark need of C.

#ifndef SCALING_SUPPORT_H
#define SCALING_SUPPORT_H

#include "machine.h"

/// Retains and releases a Swift object `count` times. In C, because the optimizer
/// removes such pairs from Swift code.
void scaling_pairs(void *object, long count);

/// Makes a Swift object immortal.
void scaling_immortalize(void *object);

#endif
