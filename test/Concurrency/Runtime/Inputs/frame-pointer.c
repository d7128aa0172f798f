// Calls fn(first, second, third) with a negative number in the frame pointer's
// register, and says whether it is still there.
_Bool keepsFramePointer(void (*fn)(void *, void *, void *), void *first,
                        void *second, void *third) {
  void *kept;
#if defined(__x86_64__)
  __asm__ volatile("push %%rbp\n\t"
                   "mov %%rsp, %%rbx\n\t"
                   "and $-16, %%rsp\n\t"
                   "mov $-56, %%rbp\n\t"
                   "call *%%rax\n\t"
                   "mov %%rbx, %%rsp\n\t"
                   "mov %%rbp, %%rax\n\t"
                   "pop %%rbp"
                   : "=a"(kept), "+D"(first), "+S"(second), "+d"(third)
                   : "a"(fn)
                   : "rbx", "rcx", "r8", "r9", "r10", "r11", "r12", "r13",
                     "r14", "r15", "memory", "cc");
#elif defined(__aarch64__)
  register void *x0 __asm__("x0") = first;
  register void *x1 __asm__("x1") = second;
  register void *x2 __asm__("x2") = third;
  register void *f __asm__("x8") = (void *)fn;
  __asm__ volatile("mov x19, x29\n\t"
                   "mov x29, #-56\n\t"
                   "blr x8\n\t"
                   "mov x8, x29\n\t"
                   "mov x29, x19"
                   : "+r"(f), "+r"(x0), "+r"(x1), "+r"(x2)
                   :
                   : "x3", "x4", "x5", "x6", "x7", "x9", "x10", "x11", "x12",
                     "x13", "x14", "x15", "x16", "x17", "x19", "x20", "x21",
                     "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30",
                     "memory", "cc");
  kept = f;
#endif
  return kept == (void *)-56;
}
