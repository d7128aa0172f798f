// A program without Swift that loads a plugin with it, uses it from threads that outlive
// the plugin's handle, and loads it again.

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { Rounds = 10, Threads = 4, Count = 1000 };

static void (*enqueue)(int count);
static pthread_barrier_t barrier;

static void *useFunction(void *unused) {
  (void)unused;
  enqueue(Count);
  pthread_barrier_wait(&barrier); // All have enqueued.
  pthread_barrier_wait(&barrier); // The plugin is closed.
  return NULL;
}

int main(int argc, char **argv) {
  (void)argc;
  pthread_barrier_init(&barrier, NULL, Threads + 1);
  for (int round = 0; round < Rounds; round++) {
    // Images with Swift code stay mapped: the runtime refers to their metadata, and
    // has callbacks for threads that exit.
    void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!plugin) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    enqueue = (void (*)(int))dlsym(plugin, "plugin_enqueue");
    int (*left)(void) = (int (*)(void))dlsym(plugin, "plugin_left");
    pthread_t threads[Threads];
    for (int i = 0; i < Threads; i++)
      if (pthread_create(&threads[i], NULL, useFunction, NULL) != 0)
        abort();
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 60000 && left() != 0; i++)
      usleep(1000);
    printf("left %d\n", left());
    dlclose(plugin);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < Threads; i++)
      pthread_join(threads[i], NULL);
  }
  printf("done\n");
  return 0;
}
