/*
 * For the file that configures an RTEMS application. Optional: everything but a crash is recorded without it.
 *
 *     #include <instr/rtems.h>
 *     #define CONFIGURE_INITIAL_EXTENSIONS INSTR_RTEMS_EXTENSION
 *
 * A crash, and an end by rtems_shutdown_executive(), then still print the trace when INSTR_SINK is console. (The image in memory needs
 * nothing of the kind: it is dumped as it lies there.)
 */
#ifndef INSTR_INSTR_RTEMS_H
#define INSTR_INSTR_RTEMS_H

#if defined(__INSTR__)
#include <rtems.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The fatal extension: prints with polled output, or does nothing. */
void instr_rtems_fatal(rtems_fatal_source source, bool always_set_to_false, rtems_fatal_code code);

#ifdef __cplusplus
}
#endif

#define INSTR_RTEMS_EXTENSION { .fatal = instr_rtems_fatal }
#else
#define INSTR_RTEMS_EXTENSION { .fatal = 0 }
#endif

#endif
