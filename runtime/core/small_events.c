#include "core/record.h"

#if INSTR_ARCH_SMALL
#include "core/small_events.h"
#endif

/* A translation unit must not be empty. */
extern int instr_small_events_unused;
