// Twice: with SIZE a library that needs so many bytes of static thread-local storage;
// without, a program that leaves none of it, and then loads a plugin with Swift.

#ifdef SIZE

__attribute__((tls_model("initial-exec"))) _Thread_local char block[SIZE];
char *staticBlock(void) { return block; }

#else

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// Loads a copy of the library at `path`: the same one would be there already.
static int loadCopy(const char *path, int number) {
  char copy[4096], command[9000];
  snprintf(copy, sizeof copy, "%s.%d", path, number);
  snprintf(command, sizeof command, "cp '%s' '%s'", path, copy);
  if (system(command) != 0)
    abort();
  return dlopen(copy, RTLD_NOW) != NULL;
}

int main(int argc, char **argv) {
  int loaded = 0;
  for (int i = 2; i < argc; i++)
    while (loaded < 2000 && loadCopy(argv[i], loaded))
      loaded++;
  printf("static storage is used up: %s\n", loaded < 2000 ? "yes" : "no");
  void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!plugin) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  void (*enqueue)(int) = (void (*)(int))dlsym(plugin, "plugin_enqueue");
  int (*left)(void) = (int (*)(void))dlsym(plugin, "plugin_left");
  enqueue(1000);
  for (int i = 0; i < 60000 && left() != 0; i++)
    usleep(1000);
  printf("left %d\n", left());
  fflush(stdout);
  _exit(0);
}

#endif
