#define _GNU_SOURCE
#include "async-let-step.h"
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

extern void *swift_task_getCurrent(void);
extern const size_t _swift_concurrency_debug_asyncTaskSize;

enum { TrapFlag = 0x100 };

/// The state of the child's future; its low bits are 0 until the result is there.
static _Atomic(uintptr_t) *future;
static atomic_bool stopped, mayGoOn, goneOn;

static void onStep(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  if (!(*future & 3))
    return;
  stopped = true;
  struct timespec time = {0, 100000};
  for (int i = 0; i < 100000 && !mayGoOn; i++)
    nanosleep(&time, NULL);
  ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TrapFlag;
  goneOn = true;
}

void handleSteps(void) {
  struct sigaction action = {.sa_sigaction = onStep, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(SIGTRAP, &action, NULL);
}

void startOver(void) { stopped = mayGoOn = goneOn = false; }

void stepFromHere(void) {
  // It follows the task and what a child task has besides: two words.
  char *task = swift_task_getCurrent();
  future = (void *)(task + _swift_concurrency_debug_asyncTaskSize + 2 * sizeof(void *));
  __asm__ volatile("pushfq\n orq %0, (%%rsp)\n popfq" ::"i"(TrapFlag) : "cc", "memory");
}

bool hasStopped(void) { return stopped; }

void goOn(void) { mayGoOn = true; }

bool hasGoneOn(void) { return goneOn; }

void fillWithOnes(void *memory, size_t size) { memset(memory, 0xFF, size); }
