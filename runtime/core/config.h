/* Compile-time settings of the runtime. Each may be given with -D; the comment says unit and cost. */
#ifndef INSTR_CONFIG_H
#define INSTR_CONFIG_H

#include "arch/arch.h"

/* Packet space of a thread's window when INSTR_BUFFER is not set, in bytes, by policy. Small enough to stay in a second-level
 * cache while it is reused, large enough that a write() is rare. */
#ifndef INSTR_CFG_STREAM_BYTES
#define INSTR_CFG_STREAM_BYTES (512u * 1024u)
#endif
#ifndef INSTR_CFG_END_BYTES
#define INSTR_CFG_END_BYTES (16u * 1024u * 1024u)
#endif
#ifndef INSTR_CFG_RING_BYTES
#define INSTR_CFG_RING_BYTES (1024u * 1024u)
#endif

/* Where a system has no environment and little memory (platform/rtems/system.c), unless its configuration says otherwise: packet space of a
 * thread, the whole block of memory that windows come from, and the most bytes of one write(). */
#ifndef INSTR_CFG_SMALL_BYTES
#define INSTR_CFG_SMALL_BYTES (64u * 1024u)
#endif
#ifndef INSTR_CFG_POOL_BYTES
#define INSTR_CFG_POOL_BYTES (1024u * 1024u)
#endif
#ifndef INSTR_CFG_SMALL_WRITE
#define INSTR_CFG_SMALL_WRITE 8192u
#endif

/* Room for the metadata in an image in memory, twice. It is some 10,000 bytes long. */
#ifndef INSTR_CFG_RAM_TEXT_BYTES
#define INSTR_CFG_RAM_TEXT_BYTES 16384u
#endif

/* Processors whose context switches are recorded (platform/rtems/system.c). */
#ifndef INSTR_CFG_PROCESSORS
#define INSTR_CFG_PROCESSORS 16u
#endif

/* Longest INSTR_SENSORS_ROOT, in bytes: what is looked for below it has room in a path (platform/linux/files.h). */
#ifndef INSTR_CFG_SENSORS_ROOT
#define INSTR_CFG_SENSORS_ROOT 140u
#endif

/* Smallest and largest packet space accepted from INSTR_BUFFER, in bytes. */
#ifndef INSTR_CFG_MIN_BYTES
#define INSTR_CFG_MIN_BYTES 4096u
#endif
#ifndef INSTR_CFG_MAX_BYTES
#define INSTR_CFG_MAX_BYTES (1024u * 1024u * 1024u)
#endif

/* Slots of the ring policy: the oldest one is overwritten, so 1/slots of the ring is lost at a time. At most 16. */
#ifndef INSTR_CFG_RING_SLOTS
#define INSTR_CFG_RING_SLOTS 8u
#endif

/* Depend entries written with one event; longer lists are continued (docs/trace-format.md, task_depend). */
#ifndef INSTR_CFG_DEPENDS_PER_EVENT
#define INSTR_CFG_DEPENDS_PER_EVENT 64u
#endif

/* Task data up to this many bytes is copied once on the creator's stack; larger data is copied by the OpenMP runtime. */
#ifndef INSTR_CFG_TASK_STACK_BYTES
#define INSTR_CFG_TASK_STACK_BYTES (INSTR_PLATFORM_SMALL ? 128 : 512)
#endif

/* Room for a thread's name, in bytes, its end included; a multiple of 4. */
#ifndef INSTR_CFG_NAME_BYTES
#define INSTR_CFG_NAME_BYTES 32u
#endif

/* Longest text of a string event, in bytes, without the terminator. */
#ifndef INSTR_CFG_STRING_BYTES
#define INSTR_CFG_STRING_BYTES 255u
#endif

/* Shortest period on which sensors are read, in nanoseconds. */
#ifndef INSTR_CFG_MIN_PERIOD_NS
#define INSTR_CFG_MIN_PERIOD_NS 100000u
#endif

/* Return addresses of a sample when INSTR_SAMPLING_DEPTH is not set, and the shortest period, in ns. */
#ifndef INSTR_CFG_SAMPLING_DEPTH
#define INSTR_CFG_SAMPLING_DEPTH 32u
#endif
#ifndef INSTR_CFG_SAMPLING_LEAST_NS
#define INSTR_CFG_SAMPLING_LEAST_NS 50000u
#endif
/* The same of real time: Linux makes the rest of a sleep that a signal ends 50 us longer, so that a program which continues it would never come to its end. */
#ifndef INSTR_CFG_SAMPLING_REAL_LEAST_NS
#define INSTR_CFG_SAMPLING_REAL_LEAST_NS 500000u
#endif

/* Bytes of each thread's stack that are painted where it was never used (core/stack.h, INSTR_STACK=1): what deeper use is told exactly. */
#ifndef INSTR_CFG_PAINT_BYTES
#define INSTR_CFG_PAINT_BYTES (256u * 1024u)
#endif

/* Earlier runs of a command line whose traces stay when INSTR_KEEP is not set, and the most that it may be. */
#ifndef INSTR_CFG_KEEP
#define INSTR_CFG_KEEP 8u
#endif
#ifndef INSTR_CFG_MOST_KEEP
#define INSTR_CFG_MOST_KEEP 1000u
#endif

/* Longest path of a trace directory, in bytes. */
#ifndef INSTR_CFG_PATH_BYTES
#define INSTR_CFG_PATH_BYTES (INSTR_PLATFORM_SMALL ? 256 : 1024)
#endif

#endif
