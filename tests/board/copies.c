/*
 * Copies of bytes in 32-bit registers, in place of the C library's. The library for SPARC Linux copies in 64-bit registers, of whose upper
 * halves qemu's signal frames for 32-bit programs hold nothing (linux-user/sparc/signal.c of QEMU 7.2): an interrupted memcpy() goes on with
 * zeros in them. Seen in a program of four threads that only calls memcpy() and memcmp() while signals arrive: one of some hundred signals
 * spoils a copy, none with these functions. Real kernels keep the halves, and boards have no such registers.
 */
#include <stddef.h>

#pragma GCC optimize("no-tree-loop-distribute-patterns") /* else these loops become calls of themselves */

void *memcpy(void *restrict to, const void *restrict from, size_t count)
{
    char *t = to;
    const char *f = from;
    while (count-- > 0)
        *t++ = *f++;
    return to;
}

void *memmove(void *to, const void *from, size_t count)
{
    char *t = to;
    const char *f = from;
    if (t < f) {
        while (count-- > 0)
            *t++ = *f++;
        return to;
    }
    while (count-- > 0)
        t[count] = f[count];
    return to;
}

void *memset(void *to, int value, size_t count)
{
    for (char *t = to; count > 0; count--)
        *t++ = (char)value;
    return to;
}

int memcmp(const void *left, const void *right, size_t count)
{
    const unsigned char *l = left;
    const unsigned char *r = right;
    for (; count > 0; count--, l++, r++)
        if (*l != *r)
            return *l - *r;
    return 0;
}
