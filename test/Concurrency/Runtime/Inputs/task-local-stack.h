// Binds task-local values as withValue does, without a stack frame for each.

#ifndef TASK_LOCAL_STACK_H
#define TASK_LOCAL_STACK_H

/// Bind a value, which is taken from `*value`; `type` is its metadata.
void pushTaskLocal(const void *key, void *value, const void *type);

/// End the most recent binding.
void popTaskLocal(void);

/// Where the value is that is bound to the key; null if there is none.
void *getTaskLocal(const void *key);

#endif
