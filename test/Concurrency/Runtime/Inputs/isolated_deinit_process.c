#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void enqueueDeinits(const char *place, long count);
void leaveDeinitsEnqueued(long count);

static const char *atExit = "at exit";

static void enqueueLast(void) {
  enqueueDeinits(atExit, 10);
  // The process ends without waiting for these.
  leaveDeinitsEnqueued(1000);
}

void enqueueAtExit(void) { atexit(enqueueLast); }

void enqueueInChild(void) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    enqueueDeinits("child", 100);
    atExit = "child at exit";
    atexit(enqueueLast);
    exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  printf("child ended with %d\n", status);
  fflush(stdout);
}

// A program that uses dispatch before main cannot fork, so it is another run.
__attribute__((constructor)) static void enqueueBeforeMain(void) {
  if (!getenv("ENQUEUE_BEFORE_MAIN"))
    return;
  enqueueDeinits("before main", 100);
  exit(0);
}
