/*
 * One function per OpenMP construct that does it `operations` times and nothing else, so that the time of one can be told.
 *
 * Constructs of a team are met by every thread of it; an operation is then one construct of the whole team. Blocks that need a
 * parallel region open one for all operations, which adds its cost divided by their number.
 */
#ifndef CONSTRUCTS_H
#define CONSTRUCTS_H

#include <stddef.h>

struct construct {
    const char *name;
    void (*block)(long operations);
};

/* Each ends with an entry without a name. */
extern const struct construct work_constructs[];
extern const struct construct mutex_constructs[];
extern const struct construct task_constructs[];

/* The compiler may neither remove nor merge what stands around it. */
static inline void nothing(void)
{
    __asm__ volatile("" ::: "memory");
}

#endif
