// A library whose constructor starts a task after 0.2 s, and waits for it.

#include <unistd.h>

void startFromPlugin(void);

__attribute__((constructor)) static void begin(void) {
  usleep(200000);
  startFromPlugin();
}
