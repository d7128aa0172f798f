// Prints what the recorder counts, in a program that runs with SWIFT_TRACE=1.
//   clang -c -I tracing/include tracing/samples/counters.c

#include "SwiftConcurrencyTrace.h"
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>

void printCounters(void) {
  // The runtime has loaded it, if the program records.
  void *library = dlopen("libswift_Trace.so", RTLD_NOW | RTLD_NOLOAD);
  bool (*get)(swift_trace_counters *) = NULL;
  if (library)
    *(void **)&get = dlsym(library, "swift_concurrency_getCounters");
  swift_trace_counters counters = {.size = sizeof(counters)};
  if (get && get(&counters))
    printf("%" PRIu64 " live tasks, %" PRIu64 " jobs that ran, %" PRIu64 " hops\n",
           counters.tasks_created - counters.tasks_destroyed, counters.jobs_run, counters.hops);
  else
    puts("this program does not record");
  if (library)
    dlclose(library);
}
