// A library with a symbol table that takes long to read.

#include <unistd.h>

__asm__(".text\n"
        ".macro function\n"
        ".type f\\@, %function\n"
        "f\\@: nop\n"
        ".size f\\@, . - f\\@\n"
        ".endm\n"
        ".rept 60000\n"
        "function\n"
        ".endr\n");

int waitInPlugin(unsigned microseconds) { return usleep(microseconds); }
