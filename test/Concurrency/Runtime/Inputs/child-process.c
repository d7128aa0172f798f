#include "child-process.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

ChildResult runChild(int (*body)(const void *context), const void *context) {
  ChildResult result = {0, 0, 0};
  int ends[2];
  fflush(NULL);
  if (pipe(ends) != 0)
    abort();
  pid_t child = fork();
  if (child < 0)
    abort();
  if (child == 0) {
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    dup2(ends[1], 2);
    close(ends[0]);
    close(ends[1]);
    alarm(60);
    exit(body(context));
  }
  close(ends[1]);
  char buffer[4096];
  ssize_t count;
  while ((count = read(ends[0], buffer, sizeof buffer)) > 0)
    result.errorCount += count;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    result.signal = WTERMSIG(status);
  else
    result.status = WEXITSTATUS(status);
  return result;
}
