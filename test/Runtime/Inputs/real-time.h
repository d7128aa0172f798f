#include <pthread.h>

int startThread(pthread_t *thread, int priority, void *(*body)(void *));
void useProcessorTime(long milliseconds);
