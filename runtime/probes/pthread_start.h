/* A thread that is made: what its creator and it tell of each other. */
#ifndef INSTR_PROBES_PTHREAD_START_H
#define INSTR_PROBES_PTHREAD_START_H

#include <stdint.h>

struct instr_thread;

struct instr_pthread_start {
    uint32_t creator; /* index of the thread that makes it */
    uint32_t seq;     /* among those that this one makes */
    uintptr_t function;
};

/* The calling thread is about to make one; the call that did it has returned. */
void instr_pthread_creates(struct instr_thread *t, struct instr_pthread_start *start, uintptr_t function, uintptr_t site);
void instr_pthread_created(struct instr_thread *t, int error);

/* The calling thread is it, and begins. */
void instr_pthread_starts(const struct instr_pthread_start *start);

#endif
