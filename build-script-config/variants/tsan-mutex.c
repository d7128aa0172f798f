// Tells ThreadSanitizer of Synchronization.Mutex's slow paths. Its fast paths are inlined
// into programs and instrumented there; these functions are in a library that is not.
// Linked into programs, so that they are found before the library's own.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void lockSlow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT bool tryLockSlow(SELF) __asm__(TRY_LOCK);
SWIFT void unlockSlow(SELF) __asm__(UNLOCK);

void __tsan_acquire(void *);
void __tsan_release(void *);

SWIFT void lockSlow(uint32_t thread, SELF) {
  ((SWIFT void (*)(uint32_t, SELF))dlsym(RTLD_NEXT, LOCK))(thread, self);
  __tsan_acquire(self);
}

SWIFT bool tryLockSlow(SELF) {
  bool locked = ((SWIFT bool (*)(SELF))dlsym(RTLD_NEXT, TRY_LOCK))(self);
  if (locked)
    __tsan_acquire(self);
  return locked;
}

SWIFT void unlockSlow(SELF) {
  __tsan_release(self);
  ((SWIFT void (*)(SELF))dlsym(RTLD_NEXT, UNLOCK))(self);
}
