// A C program with a scope and checkpoints of its own.
//   clang -I liveness/include liveness/samples/scope.c -lswift_Concurrency

#include "swift_liveness.h"
#include <stdio.h>
#include <unistd.h>

static void report(const swift_liveness_report *report, void *context) {
  fputs(report->text, stdout);
}

int main(void) {
  swift_liveness_config config = {.size = sizeof(config), .timeout_ms = 100, .quiet = true};
  if (!swift_liveness_start(&config)) {
    puts("this runtime has no monitor");
    return 0;
  }
  swift_liveness_setCallback(report, NULL);
  bool counts = swift_liveness_scopeBegin("sample", 0);
  for (uint64_t i = 1; i <= 3; ++i)
    swift_liveness_checkpoint(i);
  usleep(1000000);
  swift_liveness_scopeEnd(counts);
  usleep(1000000);
  return 0;
}
