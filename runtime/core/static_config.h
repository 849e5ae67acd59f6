/*
 * The configuration that is compiled into a program: what the environment says elsewhere, and the memory that windows come from.
 * `instr-cc --instr-config=FILE.toml` writes the object that defines `instr_config`; without it a small system gets the one of
 * platform/rtems/config.c, and a large one none.
 */
#ifndef INSTR_STATIC_CONFIG_H
#define INSTR_STATIC_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

struct instr_sink;

struct instr_static_config {
    const char *const *settings; /* "INSTR_POLICY", "ring", … NULL */
    const char *program;         /* path of the executable on the host, or NULL */
    char *pool;                  /* memory of windows, or NULL */
    size_t pool_bytes;
    const struct instr_sink *const *sinks; /* those that the program is linked with, or NULL: all there are */
    const char *target;                    /* name of the target it was built for, or NULL */
};

/*
 * A small system always has one: this reference takes the default out of the archive, unless the program brings its own. Elsewhere it
 * may be absent.
 */
#ifdef __rtems__
extern const struct instr_static_config instr_config;
#define INSTR_HAS_CONFIG true
#elif defined INSTR_SHARED
/* libinstr.so has none of its own: that of the first library that brings one (library/join.c). */
extern const struct instr_static_config *instr_config_given;
#define instr_config (*instr_config_given)
#define INSTR_HAS_CONFIG (instr_config_given != NULL)
#else
extern const struct instr_static_config instr_config __attribute__((weak));
#define INSTR_HAS_CONFIG (&instr_config != NULL)
#endif

/* The value of a setting there, or NULL. */
const char *instr_static_setting(const char *name);

#endif
