/*
 * The configuration of a program that was linked without one of its own (core/static_config.h). An object of the program's that
 * defines `instr_config` stands in front of this file, which then stays in the archive.
 *
 * The section's name begins like those that RTEMS' linker scripts neither load nor clear: the image survives a warm start. A linker
 * script may put it elsewhere.
 */
#include "core/config.h"
#include "core/static_config.h"

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)

#define POOL_BYTES 1048576
_Static_assert(INSTR_CFG_POOL_BYTES == POOL_BYTES, "another size: use a configuration (instr-cc --instr-config)");

__asm__(".section .noinit.instr.buffers,\"aw\",%nobits\n"
        ".balign 64\n"
        ".globl instr_pool\n"
        ".hidden instr_pool\n"
        "instr_pool: .skip " TEXT(POOL_BYTES) "\n"
        ".size instr_pool, " TEXT(POOL_BYTES) "\n"
        ".globl instr_pool_end\n" /* for debuggers, to which the pool has no type */
        ".hidden instr_pool_end\n"
        "instr_pool_end:\n"
        ".text\n");

extern char instr_pool[POOL_BYTES];

/* Strong references, unlike those of sinks/sink.h. */
struct instr_sink;
extern const struct instr_sink instr_sink_ram;
extern const struct instr_sink instr_sink_console;
extern const struct instr_sink instr_sink_file;

static const struct instr_sink *const SINKS[] = {&instr_sink_ram, &instr_sink_console, &instr_sink_file, NULL};

const struct instr_static_config instr_config = {
    .settings = NULL,
    .program = NULL,
    .pool = instr_pool,
    .pool_bytes = POOL_BYTES,
    .sinks = SINKS,
};
