#define _GNU_SOURCE
#include "conformance_index_images.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>

// As in swift/shims/MetadataSections.h.
struct range {
  uintptr_t start, length;
};

struct sections {
  uintptr_t version;
  const void *base;
  void *unused[2];
  struct range protocols, conformances, others[13];
};

extern void swift_addNewDSOImage(struct sections *sections);

// The test's protocol Asked, in its module Main.
extern const char askedProtocol __asm__("$s4Main5AskedMp");

// A conformance: relative references, an indirect one with its lowest bit set.
struct conformance {
  int32_t protocol, type, witnessTable;
  uint32_t flags;
};

enum { MOST_IMAGES = 4000, RECORDS = 24, KINDS = 2 };

// In this image, so that references of 32 bits reach from one to another.
static struct sections images[MOST_IMAGES + 2];
static int32_t records[MOST_IMAGES + 1][RECORDS];
static struct conformance conformances[KINDS + 1];
static const void *protocolReference = &askedProtocol, *nullReference;
static int imageCount;

static int32_t relative(const void *from, const void *to) {
  return to ? (int32_t)((intptr_t)to - (intptr_t)from) : 0;
}

static void add(const void *begin, size_t length) {
  struct sections *image = &images[imageCount++];
  image->version = 5;
  image->conformances = (struct range){(uintptr_t)begin, length};
  swift_addNewDSOImage(image);
}

void addEmptyImage(void) { add(NULL, 0); }

static void makeConformances(void) {
  for (int kind = 0; kind != KINDS; ++kind) {
    struct conformance *made = &conformances[kind];
    made->protocol = relative(&made->protocol, &protocolReference) | 1;
    // The kinds of references are 0: direct, 1: indirect. Others are no descriptor on Linux.
    made->flags = (uint32_t)kind << 3;
    made->type = kind == 0 ? 0 : relative(&made->type, &nullReference);
  }
  // For no protocol.
  conformances[KINDS].flags = 0;
}

static void fill(int32_t *section) {
  for (int i = 0; i != RECORDS; ++i)
    section[i] = relative(&section[i], &conformances[i % (KINDS + 1)]);
}

void addDamagedImage(void) {
  makeConformances();
  fill(records[MOST_IMAGES]);
  add(records[MOST_IMAGES], sizeof(records[0]));
}

void addManyImages(int count) {
  makeConformances();
  for (int i = 0; i != count && i != MOST_IMAGES; ++i) {
    fill(records[i]);
    add(records[i], sizeof(records[i]));
  }
}

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);

static _Thread_local int fails, failed;

static int mustFail(size_t size) {
  if (!fails || size < 5000)
    return 0;
  ++failed;
  errno = ENOMEM;
  return 1;
}

void *malloc(size_t size) {
  return mustFail(size) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  return mustFail(count * size) ? NULL : __libc_calloc(count, size);
}

void failLargeAllocations(int fail) { fails = fail; }

int failedAllocations(void) { return failed; }

static void (*handle)(int);
static volatile sig_atomic_t signals;

static void handleSignal(int number) {
  int error = errno;
  handle(number);
  ++signals;
  errno = error;
}

static void setTimer(int microseconds) {
  struct itimerval timer = {{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

void startSignals(void (*handler)(int)) {
  handle = handler;
  signals = 0;
  struct sigaction action = {.sa_handler = handleSignal, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  setTimer(1000);
}

int signalCount(void) { return signals; }

void stopSignals(void) { setTimer(0); }
