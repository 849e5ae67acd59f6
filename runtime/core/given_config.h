/*
 * Settings that the program gives to instr_start(). The environment is more than these, and these are more than what was compiled in. Not where
 * code size counts.
 */
#ifndef INSTR_GIVEN_CONFIG_H
#define INSTR_GIVEN_CONFIG_H

#include <stdbool.h>

#include "arch/arch.h"

#if INSTR_KEEPS_RUNS
/*
 * Takes settings as the environment has them, `INSTR_MEMORY=0`, with `;` or line ends between them. `all`: any may be set, since the trace has not
 * begun; else those that may change later. False, with a word in the trouble of the settings: something is refused, and nothing is taken.
 */
bool instr_given_take(const char *config, bool all);

/* The value of a setting that was given last, or NULL. It stays where it is. */
const char *instr_given_setting(const char *name);
#endif

#endif
