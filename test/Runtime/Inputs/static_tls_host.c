// Loads copies of a library that takes static TLS until there is none left, unloads as many as
// the third argument says, and then loads a library in Swift.

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int copy(const char *from, const char *to) {
  FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
  char buffer[4096];
  size_t count;
  if (!in || !out)
    return 0;
  while ((count = fread(buffer, 1, sizeof buffer, in)) > 0)
    if (fwrite(buffer, 1, count, out) != count)
      return 0;
  fclose(in);
  return fclose(out) == 0;
}

static sem_t isLoaded;
static int (*answer)(void);

/// Half of the threads that do this begin before the library is there.
static void *ask(void *unused) {
  sem_wait(&isLoaded);
  return (void *)(long)answer();
}

int main(int argc, char **argv) {
  static void *fillers[1000];
  int loaded = 0;
  for (;; ++loaded) {
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", argv[1], loaded);
    if (loaded == 1000 || !copy(argv[1], name)) {
      puts("static TLS has no end, or no copy");
      return 1;
    }
    if (!(fillers[loaded] = dlopen(name, RTLD_NOW)))
      break;
  }
  printf("%s\n", loaded > 0 ? "full" : "not even one");
  fprintf(stderr, "%d libraries of 64 bytes each\n", loaded);
  for (int i = 0; i < atoi(argv[3]) && loaded > 0; ++i)
    if (dlclose(fillers[--loaded]) != 0)
      return 1;

  pthread_t threads[4];
  void *answers[4];
  sem_init(&isLoaded, 0, 0);
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], 0, ask, 0);

  void *library = dlopen(argv[2], RTLD_NOW);
  if (!library) {
    printf("dlopen: %s\n", dlerror());
    return 1;
  }
  answer = (int (*)(void))dlsym(library, "answer");
  printf("answer %d\n", answer());

  for (int i = 2; i < 4; ++i)
    pthread_create(&threads[i], 0, ask, 0);
  for (int i = 0; i < 4; ++i)
    sem_post(&isLoaded);
  for (int i = 0; i < 4; ++i)
    pthread_join(threads[i], &answers[i]);
  printf("threads %ld %ld %ld %ld\n", (long)answers[0], (long)answers[1],
         (long)answers[2], (long)answers[3]);
  return 0;
}
