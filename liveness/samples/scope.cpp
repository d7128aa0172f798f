// As scope.c, in C++.

#include "swift_liveness.h"
#include <cstdio>
#include <unistd.h>

int main() {
  swift_liveness_config config = {};
  config.size = sizeof(config);
  config.timeout_ms = 100;
  config.quiet = true;
  if (!swift_liveness_start(&config)) {
    std::puts("this runtime has no monitor");
    return 0;
  }
  swift_liveness_setCallback(
      [](const swift_liveness_report *report, void *) {
        std::fputs(report->text, stdout);
      },
      nullptr);
  {
    swift::LivenessScope scope("sample");
    for (uint64_t i = 1; i <= 3; ++i)
      scope.checkpoint(i);
    usleep(1000000);
  }
  usleep(1000000);
}
