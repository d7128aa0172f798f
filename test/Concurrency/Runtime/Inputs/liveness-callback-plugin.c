// A library that is closed while the monitor has its callback.
#include "swift_liveness.h"
#include <unistd.h>

static void report(const swift_liveness_report *report, void *calls) {
  usleep(300000);
  __atomic_add_fetch((int *)calls, 1, __ATOMIC_RELAXED);
}
void begin(int *calls) { swift_liveness_setCallback(report, calls); }
