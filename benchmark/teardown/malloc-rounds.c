// The rounds of the malloc tree alone, for another C library than the workspace's:
// cc -O2 -I../native malloc-rounds.c controls.c ../native/machine.c && ./a.out 23 6

#include "controls.h"

#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments) {
  int depth = count > 1 ? atoi(arguments[1]) : 20, rounds = count > 2 ? atoi(arguments[2]) : 5;
  printf("generate copy delete total, ms\n");
  for (int round = 0; round < rounds; round++) {
    uint64_t start = machine_now();
    struct malloc_node *tree = malloc_tree_make(1, depth);
    uint64_t made = machine_now();
    struct malloc_node *copy = malloc_tree_copy(tree);
    uint64_t copied = machine_now();
    malloc_tree_delete(tree);
    malloc_tree_delete(copy);
    uint64_t end = machine_now();
    printf("%.2f %.2f %.2f %.2f\n", (double)(made - start) / 1e6, (double)(copied - made) / 1e6,
           (double)(end - copied) / 1e6, (double)(end - start) / 1e6);
  }
}
