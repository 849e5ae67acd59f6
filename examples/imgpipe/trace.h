/* The tracer's interface, where there is one: without <instr/instr.h> the calls compile to nothing. */
#ifndef IMGPIPE_TRACE_H
#define IMGPIPE_TRACE_H

#include <stdint.h>

#if defined(__has_include)
#if __has_include(<instr/instr.h>)
#include <instr/instr.h>
#define IMGPIPE_HAVE_INSTR 1
#endif
#endif

#ifndef IMGPIPE_HAVE_INSTR
static inline void instr_event(uint32_t type, uint64_t value)
{
    (void)type;
    (void)value;
}
static inline void instr_region_begin(const char *name)
{
    (void)name;
}
static inline void instr_region_end(void)
{
}
static inline void instr_counter(const char *name, int64_t value)
{
    (void)name;
    (void)value;
}
#endif

/* User event: number of the frame whose processing begins, from 1; 0 when it ends. */
enum { EVENT_FRAME = 1000 };

#endif
