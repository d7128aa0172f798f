// A program without Swift that loads a plugin with it, closes it, and goes on to use
// Dispatch's global queues, whose blocks the pool of Swift's runtime runs by then.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int ran, onPool;

static void block(void *unused) {
  (void)unused;
  char name[64] = "";
  FILE *file = fopen("/proc/thread-self/comm", "r");
  if (!file || !fgets(name, sizeof name, file))
    abort();
  fclose(file);
  if (strncmp(name, "swift-pool-", 11) == 0)
    __atomic_add_fetch(&onPool, 1, __ATOMIC_ACQ_REL);
  __atomic_add_fetch(&ran, 1, __ATOMIC_ACQ_REL);
}

static void *open(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  return library;
}

int main(int argc, char **argv) {
  int jobs = argc > 2 ? atoi(argv[2]) : 0;
  void *plugin = open(argv[1]);
  void (*enqueue)(int) = (void (*)(int))dlsym(plugin, "plugin_enqueue");
  int (*left)(void) = (int (*)(void))dlsym(plugin, "plugin_left");
  void *(*globalQueue)(long, unsigned long) =
      (void *(*)(long, unsigned long))dlsym(plugin, "dispatch_get_global_queue");
  void (*async)(void *, void *, void (*)(void *)) =
      (void (*)(void *, void *, void (*)(void *)))dlsym(plugin, "dispatch_async_f");
  // This program uses Dispatch itself.
  Dl_info info;
  if (!globalQueue || !async || !dladdr((void *)async, &info))
    abort();
  open(info.dli_fname);

  if (jobs) {
    enqueue(jobs);
    for (int i = 0; i < 60000 && left() != 0; i++)
      usleep(1000);
    // The last task has a few instructions of the plugin left.
    usleep(200000);
  }
  dlclose(plugin);
  for (int i = 0; i < 1000; i++)
    async(globalQueue(0, 0), NULL, block);
  for (int i = 0; i < 60000 && __atomic_load_n(&ran, __ATOMIC_ACQUIRE) != 1000; i++)
    usleep(1000);
  printf("%d ran, %d on the pool\n", ran, onPool);
  return 0;
}
