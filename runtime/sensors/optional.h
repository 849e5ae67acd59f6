/*
 * Sensors and counters as the core sees them. On large systems they are only in programs whose link asks for them by the name
 * instr_sensors_begin, which instr-cc does for all that are not static, and for static ones whose configuration has sensors or counters
 * (docs/decisions/0013): a weak reference takes no member out of an archive. Everything beside _begin, _settings, _describe and _forked is only
 * called when there are read points, which _begin alone gives.
 */
#ifndef INSTR_SENSORS_OPTIONAL_H
#define INSTR_SENSORS_OPTIONAL_H

#include "arch/arch.h"
#include "sensors/sensors.h"

#if INSTR_PLATFORM_SMALL
#define INSTR_SENSORS_LINKED 1 /* --gc-sections takes away what is not used, settings are compiled in */
#else
#pragma weak instr_sensors_begin
#pragma weak instr_sensors_settings
#pragma weak instr_sensors_describe
#pragma weak instr_sensors_forked
#pragma weak instr_sensors_started
#pragma weak instr_sensors_finish
#pragma weak instr_sensors_read
#pragma weak instr_counters_open
#pragma weak instr_counters_close
#define INSTR_SENSORS_LINKED (&instr_sensors_begin != NULL)
#endif

#endif
