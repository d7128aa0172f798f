// Work of a known size for the body of a deinit.

#ifndef DEINIT_BALLAST_H
#define DEINIT_BALLAST_H

#include <stdint.h>

// One unit takes about as long as the arc4random() of an M1 does, 40 ns. The
// arc4random() of glibc cannot serve: depending on kernel and version it is a
// system call of some hundreds of ns. This one touches no memory and takes no
// lock, and the assembler statement keeps it from being removed.
__attribute__((noinline, unused)) static void deinit_ballast(long units) {
  for (long unit = 0; unit < units; unit++) {
    uint64_t x = (uint64_t)unit;
    for (int i = 0; i < 48; i++) {
      x = x * 6364136223846793005u + 1442695040888963407u;
      __asm__ volatile("" : "+r"(x));
    }
  }
}

#endif
