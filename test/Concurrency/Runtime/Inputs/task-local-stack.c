#include "task-local-stack.h"

#define SWIFTCALL __attribute__((swiftcall))

extern SWIFTCALL void swift_task_localValuePush(const void *key, void *value,
                                                const void *type);
extern SWIFTCALL void swift_task_localValuePop(void);
extern SWIFTCALL void *swift_task_localValueGet(const void *key);

void pushTaskLocal(const void *key, void *value, const void *type) {
  swift_task_localValuePush(key, value, type);
}

void popTaskLocal(void) { swift_task_localValuePop(); }

void *getTaskLocal(const void *key) { return swift_task_localValueGet(key); }
