// A program that handles its crashes before it loads the runtime. Its handler says whether it runs as it asked for: on
// its stack, with the signals blocked that it named, and its own signal not blocked.

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char stack[65536];
static const char *how;

static void handle(int number, siginfo_t *info, void *context) {
  (void)context;
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, NULL, &mask);
  char *here = (char *)&mask;
  if (here < stack || here >= stack + sizeof stack)
    puts("on another stack");
  if (sigismember(&mask, number) || !sigismember(&mask, SIGUSR1))
    puts("with another mask");
  // What is sent again has its sender.
  if (!strcmp(how, "abort") && info->si_pid != getpid())
    puts("of another sender");
  printf("handled %s\n", how);
  fflush(stdout);
  _exit(0);
}

int main(int count, char **words) {
  how = words[count - 1];
  stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&own, NULL);
  struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
  action.sa_sigaction = handle;
  sigaddset(&action.sa_mask, SIGUSR1);
  for (int i = 0; i != 3; ++i)
    sigaction((int[]){SIGSEGV, SIGABRT, SIGTRAP}[i], &action, NULL);
  if (!dlopen("libswift_Concurrency.so", RTLD_NOW)) {
    fprintf(stderr, "error: %s\n", dlerror());
    return 1;
  }
  if (!strcmp(how, "segv"))
    *(volatile int *)(long)count = 0;
  if (!strcmp(how, "abort"))
    abort();
  raise(SIGTRAP);
}
