/*
 * Public interface of instr: user events, regions and counters on the time line of a traced program, and when it is recorded.
 *
 * Under instr-cc this header is found by itself and the calls record. Elsewhere (copy it into your project) every call
 * compiles to nothing, unless INSTR_DYNAMIC is defined in front of it: then each call looks once for the runtime that `instr run` brings,
 * and does nothing where there is none. An object compiled by instr-cc but linked without the runtime calls nothing either: the functions are
 * weak references there.
 *
 * All functions may be called from any thread and from signal handlers (but for the instr_start() that begins the trace of a program that
 * INSTR_PAUSED holds back: not from handlers); they never change errno.
 */
#ifndef INSTR_INSTR_H
#define INSTR_INSTR_H

#include <stdint.h>

/* What instr_start() returns when the program is not recorded (INSTR_ENABLED=0, no runtime, no place for the trace), and when a setting is refused. */
#define INSTR_NOT_RECORDED (-1)
#define INSTR_REFUSED (-2)

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

/*
 * Begins recording where INSTR_PAUSED=1 held it back, or resumes it after instr_stop(); else nothing changes. `config` is NULL, or settings as
 * the environment has them, with `;` or line ends between them: "INSTR_MEMORY=0; INSTR_PTHREAD=off". What the environment has is more than these. Once
 * the trace has begun only INSTR_MEMORY, INSTR_PTHREAD and INSTR_VERBOSE may change. Returns 0 when the program is being recorded afterwards,
 * INSTR_NOT_RECORDED when it is not, and INSTR_REFUSED when a setting is refused: then nothing has changed, and the trace says why.
 */
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
#define instr_start(config) (instr_start ? instr_start(config) : INSTR_NOT_RECORDED)
#define instr_stop() (instr_stop ? instr_stop() : 0)
#define instr_flush() (instr_flush ? instr_flush() : -1)
#endif

#undef INSTR_I_WEAK

#elif defined(INSTR_DYNAMIC)

/* dlsym and dlerror, under names of their own beside <dlfcn.h>. Weak: in a static program, or with an old C library, nothing is found. */
static void *instr_i_symbol(void *handle, const char *name) __attribute__((weakref("dlsym"), unused));
static char *instr_i_error(void) __attribute__((weakref("dlerror"), unused));

/* The function of the process with this name; `place` keeps it, or itself where there is none. */
static inline void *instr_i_find(void **place, const char *name)
{
    void *found = __atomic_load_n(place, __ATOMIC_RELAXED);
    if (found == 0) {
        found = instr_i_symbol ? instr_i_symbol((void *)0, name) : 0; /* NULL is RTLD_DEFAULT */
        if (found == 0) {
            if (instr_i_error)
                (void)instr_i_error(); /* the program is not to read of it */
            found = place;
        }
        __atomic_store_n(place, found, __ATOMIC_RELAXED);
    }
    return found == place ? 0 : found;
}

/* A call of a function with these types of its parameters, or nothing. */
#define INSTR_I_FIND(name, result, ...) \
    static void *instr_i_place; \
    void *const instr_i_found = instr_i_find(&instr_i_place, name); \
    result (*instr_i_call)(__VA_ARGS__); \
    __builtin_memcpy(&instr_i_call, &instr_i_found, sizeof instr_i_call)

static inline void instr_event(uint32_t type, uint64_t value)
{
    INSTR_I_FIND("instr_event", void, uint32_t, uint64_t);
    if (instr_i_call)
        instr_i_call(type, value);
}

static inline void instr_region_begin(const char *name)
{
    INSTR_I_FIND("instr_region_begin", void, const char *);
    if (instr_i_call)
        instr_i_call(name);
}

static inline void instr_region_end(void)
{
    INSTR_I_FIND("instr_region_end", void, void);
    if (instr_i_call)
        instr_i_call();
}

static inline void instr_counter(const char *name, int64_t value)
{
    INSTR_I_FIND("instr_counter", void, const char *, int64_t);
    if (instr_i_call)
        instr_i_call(name, value);
}

static inline int instr_start(const char *config)
{
    INSTR_I_FIND("instr_start", int, const char *);
    return instr_i_call ? instr_i_call(config) : INSTR_NOT_RECORDED;
}

static inline int instr_stop(void)
{
    INSTR_I_FIND("instr_stop", int, void);
    return instr_i_call ? instr_i_call() : 0;
}

static inline int instr_flush(void)
{
    INSTR_I_FIND("instr_flush", int, void);
    return instr_i_call ? instr_i_call() : -1;
}

#undef INSTR_I_FIND

#else

static inline void instr_event(uint32_t type, uint64_t value) { (void)type; (void)value; }
static inline void instr_region_begin(const char *name) { (void)name; }
static inline void instr_region_end(void) {}
static inline void instr_counter(const char *name, int64_t value) { (void)name; (void)value; }
static inline int instr_start(const char *config) { (void)config; return INSTR_NOT_RECORDED; }
static inline int instr_stop(void) { return 0; }
static inline int instr_flush(void) { return -1; }

#endif

#ifdef __cplusplus
}
#endif

#endif
