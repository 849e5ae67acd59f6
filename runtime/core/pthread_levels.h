/* INSTR_PTHREAD: what of threads, and of OpenMP's locks, is recorded. */
#ifndef INSTR_PTHREAD_LEVELS_H
#define INSTR_PTHREAD_LEVELS_H

#include <stdint.h>

/* Each level has those before it. */
enum { INSTR_PTHREAD_OFF, INSTR_PTHREAD_THREADS, INSTR_PTHREAD_WAITS, INSTR_PTHREAD_ALL };

/* Where the level is read, for libraries with stubs of their own. */
const uint32_t *instr_pthread_levels(void);

#endif
