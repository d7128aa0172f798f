#define _GNU_SOURCE
#include "forbidden-calls.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 16 };

static const struct {
  const char *name;
  int error, isOperation;
  long values[MOST]; // calls, or operations of futex; the C library needs the others
} filters[] = {
    {"none", 0, 0, {-1}},
    {"scheduler", EPERM, 0,
     {SYS_sched_getaffinity, SYS_sched_setaffinity, SYS_sched_getscheduler, SYS_sched_setscheduler,
      SYS_sched_getparam, SYS_sched_getattr, SYS_sched_setattr, SYS_getcpu, SYS_sched_yield, -1}},
    {"priorities", EPERM, 0, {SYS_getpriority, SYS_setpriority, SYS_prctl, SYS_membarrier, SYS_prlimit64, -1}},
    {"files", EACCES, 0, {SYS_openat, SYS_statx, SYS_newfstatat, SYS_readlinkat, -1}},
    {"futexes", ENOSYS, 1,
     {FUTEX_REQUEUE, FUTEX_CMP_REQUEUE, FUTEX_WAKE_OP, FUTEX_LOCK_PI, FUTEX_UNLOCK_PI, FUTEX_TRYLOCK_PI,
      FUTEX_WAIT_REQUEUE_PI, FUTEX_CMP_REQUEUE_PI, -1}},
};

void forbidCalls(const char *which) {
  for (size_t i = 0; i != sizeof(filters) / sizeof(*filters); ++i) {
    if (strcmp(filters[i].name, which) != 0)
      continue;
    struct sock_filter filter[MOST * 2 + 4];
    unsigned short size = 0;
    struct sock_filter load = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    filter[size++] = load;
    if (filters[i].isOperation) {
      struct sock_filter other = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 1, 0);
      struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
      struct sock_filter operation = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1]));
      struct sock_filter command = BPF_STMT(BPF_ALU | BPF_AND | BPF_K, FUTEX_CMD_MASK);
      filter[size++] = other;
      filter[size++] = allow;
      filter[size++] = operation;
      filter[size++] = command;
    }
    for (const long *value = filters[i].values; *value != -1; ++value) {
      struct sock_filter isOther = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)*value, 0, 1);
      struct sock_filter fail = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)filters[i].error);
      filter[size++] = isOther;
      filter[size++] = fail;
    }
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[size++] = allow;
    struct sock_fprog program = {size, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
      puts("no seccomp");
    return;
  }
  abort();
}
