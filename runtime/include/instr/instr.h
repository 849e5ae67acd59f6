/*
 * Public interface of instr: user events, regions and counters on the time line of a traced program.
 *
 * Under instr-cc this header is found by itself and the calls record. Elsewhere (copy it into your project) every call
 * compiles to nothing. An object compiled by instr-cc but linked without the runtime calls nothing either: the functions are
 * weak references there.
 *
 * All functions may be called from any thread and from signal handlers; they never change errno.
 */
#ifndef INSTR_INSTR_H
#define INSTR_INSTR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__INSTR__) || defined(INSTR_IMPLEMENTATION)

#if defined(INSTR_IMPLEMENTATION)
#define INSTR_I_WEAK
#else
#define INSTR_I_WEAK __attribute__((weak))
#endif

/*
 * One event of the calling thread: type and value as in a Paraver event. Choose types from 1 to 19,999,999: of larger ones many have a
 * meaning already. `instr merge` shows a type that is taken under another number, with its own in the label.
 */
void instr_event(uint32_t type, uint64_t value) INSTR_I_WEAK;

/* Begins a region of the calling thread; regions nest. `name` must stay valid and unchanged: a string literal. */
void instr_region_begin(const char *name) INSTR_I_WEAK;

/* Ends the innermost region of the calling thread. */
void instr_region_end(void) INSTR_I_WEAK;

/* The value a counter of yours has now. `name` is a string literal. */
void instr_counter(const char *name, int64_t value) INSTR_I_WEAK;

/* Resumes recording after instr_stop(). `config` must be NULL. 0 when the program is being recorded afterwards, else -1. */
int instr_start(const char *config) INSTR_I_WEAK;

/* Stops recording on all threads until instr_start(). Returns 0. */
int instr_stop(void) INSTR_I_WEAK;

/* Writes what the calling thread has recorded so far to its stream. 0 when done, -1 when there is nothing to write to. */
int instr_flush(void) INSTR_I_WEAK;

#if !defined(INSTR_IMPLEMENTATION)
#define instr_event(type, value) (instr_event ? instr_event((type), (value)) : (void)0)
#define instr_region_begin(name) (instr_region_begin ? instr_region_begin(name) : (void)0)
#define instr_region_end() (instr_region_end ? instr_region_end() : (void)0)
#define instr_counter(name, value) (instr_counter ? instr_counter((name), (value)) : (void)0)
#define instr_start(config) (instr_start ? instr_start(config) : -1)
#define instr_stop() (instr_stop ? instr_stop() : 0)
#define instr_flush() (instr_flush ? instr_flush() : -1)
#endif

#undef INSTR_I_WEAK

#else

static inline void instr_event(uint32_t type, uint64_t value) { (void)type; (void)value; }
static inline void instr_region_begin(const char *name) { (void)name; }
static inline void instr_region_end(void) {}
static inline void instr_counter(const char *name, int64_t value) { (void)name; (void)value; }
static inline int instr_start(const char *config) { (void)config; return -1; }
static inline int instr_stop(void) { return 0; }
static inline int instr_flush(void) { return -1; }

#endif

#ifdef __cplusplus
}
#endif

#endif
