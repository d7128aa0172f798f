// A program without Swift that loads a library with it, casts there on several threads, and
// closes it before the threads exit. Then it does so again. Its second argument is a library
// that stays.

#include "../../Concurrency/Runtime/Inputs/is-mapped.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { Rounds = 3, Threads = 4, Count = 20 };

static int (*cast)(int count);
static int sums[Threads];
static pthread_barrier_t barrier;

static void *useFunction(void *number) {
  sums[(long)number] = cast(Count);
  pthread_barrier_wait(&barrier); // All have cast.
  pthread_barrier_wait(&barrier); // The library is closed.
  return NULL;
}

int main(int argc, char **argv) {
  pthread_barrier_init(&barrier, NULL, Threads + 1);
  for (int round = 0; round < Rounds; round++) {
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    // The library is there: this only says that it stays.
    if (argc > 2 && !dlopen(argv[2], RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE))
      abort();
    cast = (int (*)(int))dlsym(library, "plugin_cast");
    pthread_t threads[Threads];
    for (long i = 0; i < Threads; i++)
      if (pthread_create(&threads[i], NULL, useFunction, (void *)i) != 0)
        abort();
    pthread_barrier_wait(&barrier);
    dlclose(library);
    printf("library %s, runtime %s,", isMapped(argv[1]) ? "mapped" : "gone",
           isMapped("libswiftCore.so") ? "mapped" : "gone");
    fflush(stdout);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < Threads; i++) {
      pthread_join(threads[i], NULL);
      printf(" %d", sums[i]);
    }
    printf("\n");
  }
  printf("done\n");
  return 0;
}
