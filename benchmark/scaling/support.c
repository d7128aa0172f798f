#include "support.h"

void *swift_retain(void *object);
void swift_release(void *object);
void _swift_stdlib_immortalize(void *object);

void scaling_pairs(void *object, long count) {
  for (long i = 0; i < count; i++) {
    swift_retain(object);
    swift_release(object);
  }
}

void scaling_immortalize(void *object) { _swift_stdlib_immortalize(object); }
