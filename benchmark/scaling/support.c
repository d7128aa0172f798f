#define _GNU_SOURCE
#include "support.h"

#include <dlfcn.h>

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

const char *scaling_library(void) {
  Dl_info info;
  // By name: the address of an undefined function can be one in the executable.
  void *symbol = dlsym(RTLD_DEFAULT, "swift_retain");
  return symbol && dladdr(symbol, &info) ? info.dli_fname : "unknown";
}
