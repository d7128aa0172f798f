// A program without Swift, one of whose threads uses a library with it and exits after the
// library, and with it the runtime, is closed.

#include "is-mapped.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { Threads = 4, Count = 1000 };

static void (*enqueue)(int count);
static pthread_barrier_t barrier;

static void *useFunction(void *unused) {
  (void)unused;
  enqueue(Count);
  pthread_barrier_wait(&barrier); // All have enqueued.
  pthread_barrier_wait(&barrier); // The library is closed.
  return NULL;
}

int main(int argc, char **argv) {
  (void)argc;
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  // The threads of libdispatch go on.
  if (!dlopen("libdispatch.so", RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE))
    return 1;
  enqueue = (void (*)(int))dlsym(library, "plugin_enqueue");
  int (*left)(void) = (int (*)(void))dlsym(library, "plugin_left");
  pthread_barrier_init(&barrier, NULL, Threads + 1);
  pthread_t threads[Threads];
  for (int i = 0; i < Threads; i++)
    if (pthread_create(&threads[i], NULL, useFunction, NULL) != 0)
      abort();
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < 60000 && left() != 0; i++)
    usleep(1000);
  printf("left %d\n", left());
  // The last task may still be on its way out of the runtime.
  usleep(200000);
  dlclose(library);
  printf("library %s\n", isMapped(argv[1]) ? "mapped" : "gone");
  printf("runtime %s\n", isMapped("libswift_Concurrency.so") ? "mapped" : "gone");
  fflush(stdout);
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < Threads; i++)
    pthread_join(threads[i], NULL);
  printf("done\n");
  fflush(stdout);
  _exit(0);
}
