#include <unistd.h>
__attribute__((constructor)) static void load(void) { usleep(1500000); }
