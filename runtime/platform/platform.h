/*
 * What the core asks of an operating system. The folder of a system implements it (platform/linux/); nothing else in the
 * runtime calls the system. No function here sets errno for the caller, allocates with malloc, or is a cancellation point.
 */
#ifndef INSTR_PLATFORM_H
#define INSTR_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "instr/kinds.h"

struct instr_thread;

/*
 * Nanoseconds of a clock that is never set (CLOCK_MONOTONIC), and since the epoch. The first is the same for all processes, and that of the system's
 * own records of them, whatever offset a process sees. That is looked for when a process begins, and when a forked child does: whether it is another one.
 */
uint64_t instr_platform_monotonic_ns(void);
uint64_t instr_platform_realtime_ns(void);
#if INSTR_KEEPS_RUNS
bool instr_platform_find_clock(void);
#endif

/* Whether the processor's tick counter is a usable clock on this system, as far as the system knows. */
bool instr_platform_ticks_ok(void);

uint32_t instr_platform_pid(void);
uint32_t instr_platform_tid(void);
bool instr_platform_is_initial_thread(void);
void instr_platform_yield(void);

#if INSTR_ARCH_SMALL
/* Sleeps for some 50 us, so that threads of lower priority go on. Not on small systems, whose locks inherit priorities. */
void instr_platform_pause(void);
#else
/*
 * Sleeps while the word has the value, at most `ns` or so: whoever changes it wakes one of those that sleep. Not on small systems, whose locks inherit
 * priorities.
 */
void instr_platform_sleep_on(const uint32_t *word, uint32_t value, uint64_t ns);
void instr_platform_wake(const uint32_t *word);
#endif

/* Lets another thread, of whatever priority, go on. False when none will: the system is dying. */
bool instr_platform_wait(void);

/*
 * Small systems only: the runtime's locks, and whether an interrupt is being handled, where none of them can be taken. Whoever waits for a
 * lock waits no longer than it is held, and gives its priority to the thread that holds it. When the system is dying nobody waits.
 */
#if INSTR_PLATFORM_SMALL
enum { INSTR_LOCK_PROCESS, INSTR_LOCK_POOL, INSTR_LOCK_CONSOLE, INSTR_LOCKS };
void instr_platform_lock(unsigned lock);
void instr_platform_unlock(unsigned lock);
bool instr_platform_in_interrupt(void);

/* An event is lost that no stream can count, be it in a thread, in an interrupt, or with interrupts off; and how many were. */
void instr_platform_lose(void);
uint64_t instr_platform_lost(void);

/* What the system calls the running thread, ended by 0; nothing: it has no name. */
void instr_platform_thread_name(char *name, size_t bytes);
#else
static inline bool instr_platform_in_interrupt(void)
{
    return false; /* a signal handler is no interrupt: see instr_is_inside() */
}
#endif

/* Not on small systems, for the probes of threads (platform/linux/pthread.c). Tries to take a lock, INSTR_MUTEX_…: 0, or an errno; INSTR_NO_TRY: it
 * was not tried. One that cannot be tried and that another thread has answers as if it had been. */
#define INSTR_NO_TRY (-1)
int instr_platform_lock_try(unsigned kind, void *lock);
bool instr_platform_semaphore_try(void *semaphore);

/* The thread ends here when another one has cancelled it. */
void instr_platform_test_cancel(void);

/* Whether calls that wait up to this time of this clock look at their lock before they refuse it. */
bool instr_platform_is_time(int clock, const void *time);

/* Whether the function of a pthread_once_t has run. */
bool instr_platform_has_run(const void *control);

/* The calling thread's pthread_t. */
uintptr_t instr_platform_self(void);

/* What the system calls a thread of the process, 0: the calling one; "": nobody knows. */
void instr_platform_name_of(uint32_t os_tid, char *name, size_t bytes);

/* Whether the program has rights that its user has not: files would be written with these rights where the user says. */
#if INSTR_PLATFORM_SMALL
static inline bool instr_platform_is_privileged(void)
{
    return false; /* there are no users */
}
#else
bool instr_platform_is_privileged(void);
#endif

#if INSTR_KEEPS_RUNS
/*
 * Where the program has closed its standard input, output or errors, other threads may read or write these at any moment, as the program does
 * without us. While a file is opened, its numbers are taken by what nobody can read or write (sinks/file_place.c), and another descriptor of ours
 * that had one of them may not be closed meanwhile. So threads open theirs one after another: in a turn, where turns are needed. False: there are
 * none, it is the caller's already (in a handler), or another thread keeps it for a second, and left it perhaps by a jump out of a handler.
 */
bool instr_platform_turn_begin(void);
void instr_platform_turn_end(bool had);
void instr_platform_turns_needed(void);

/* In a forked child: the thread whose turn it was is not here. */
void instr_platform_turns_anew(void);
#else
static inline bool instr_platform_turn_begin(void)
{
    return false;
}
static inline void instr_platform_turn_end(bool had)
{
    (void)had;
}
#endif

/* The value of a setting, from the environment or else from the program's configuration (core/static_config.h), or NULL. */
const char *instr_platform_getenv(const char *name);

#if INSTR_KEEPS_RUNS
/* Copies the process's arguments and the variables of its environment that begin with INSTR_, before the program can change them. */
void instr_platform_keep_command(void);

/* The arguments behind the program's name, with a blank between them: at most 1,023 bytes; "" where there are none. */
const char *instr_platform_arguments(void);

/* The copied variable number `index`, "NAME=VALUE"; NULL: there is none. */
const char *instr_platform_variable(uint32_t index);
#endif

/* Path of the running executable into `path`; false when unknown. */
bool instr_platform_executable(char *path, size_t bytes);
void instr_platform_hostname(char *name, size_t bytes);
void instr_platform_random(uint8_t *bytes, size_t count);
const char *instr_platform_name(void);

/* An address in the running program's code. */
uintptr_t instr_platform_code(void);

/* Saves and restores what a guest must not see changed: errno and the cancellation state. */
struct instr_guest {
    int error;
    int cancel;
    bool told; /* a sanitizer, to look away */
    bool held; /* signals are */
    unsigned long signals[64 / (8 * sizeof(long))];
};
void instr_platform_enter(struct instr_guest *guest);
void instr_platform_leave(const struct instr_guest *guest);

/* And, up to instr_platform_leave(), the thread's signals, but for those that its own instructions raise, and those that end periods
 * of sampling: no handler finds the runtime's lock taken or a packet half handed over, and none leaves it so. */
#if INSTR_PLATFORM_SMALL
static inline void instr_platform_hold_signals(struct instr_guest *guest)
{
    (void)guest; /* there are none */
}
#else
void instr_platform_hold_signals(struct instr_guest *guest);

/* The signal that ends periods of sampling. */
void instr_platform_leave_signal(int signal);

/* The stack that the system gave the calling thread, [*low, *high), as far as that is known without asking: no more than the limit for
 * stacks. False: not at all. */
bool instr_platform_own_stack(uintptr_t *low, uintptr_t *high);

/* The stack that the calling thread's handlers run on, [*low, *high), and whether it runs on it; false: there is none. */
bool instr_platform_signal_stack(uintptr_t *low, uintptr_t *high, bool *on_it);
#endif

/* Memory whose first INSTR_WINDOW_HEADER_BYTES are zero, NULL when there is none; and its end. */
void *instr_platform_memory(size_t bytes);
void instr_platform_give_back(void *block, size_t bytes);

/* The one block of memory that the image in memory is made of (sinks/ram.c), whole; NULL when there is none. */
void *instr_platform_pool(size_t *bytes);

/* Prints text where people see it, as it is; also while the system is dying. */
void instr_platform_console(const char *text, size_t count);

/* Puts zeroed private memory in the place of a mapped block; false when the system refuses. */
bool instr_platform_replace(void *block, size_t bytes);

/* Has instr_thread_ended() called on the calling thread when it ends. */
void instr_platform_watch_thread(struct instr_thread *t);

/* After it returns, no other thread can still act on an older value of what this thread stored before. */
void instr_platform_fence_all(void);

/* Arranges calls of instr_forked() in a forked child and instr_finish() at the end of the process; clears `page` in children. */
void instr_platform_watch_process(void *page, size_t bytes);

/* Recording has begun, and the initial thread is attached. */
void instr_platform_started(void);

/* Takes back what would call into the runtime after it was unloaded. */
void instr_platform_unwatch(void);

/* Visits the loaded objects: load bias, end address, build id (may be empty) and path. */
typedef void instr_module_fn(void *arg, uintptr_t base, uintptr_t end, const uint8_t *id, size_t id_bytes, const char *path);
void instr_platform_modules(instr_module_fn *fn, void *arg);

/* A number that changes when an object is loaded or unloaded. */
uint64_t instr_platform_module_generation(void);

/*
 * Memory (platform/NAME_memory.c). The calling thread's stack, [*low, *high), without its guard; false when it is not known. May
 * allocate: it is asked once for each thread, and only when stacks are to be measured or sampled.
 */
bool instr_platform_stack_bounds(uintptr_t *low, uintptr_t *high);

/*
 * Stacks are looked at by words. Mapped: the lowest address from which on all of [low, high) is memory (the initial thread's stack grows);
 * 0: none. Word: what stands at an address there. Touched: the lowest address of [low, high) whose word is not `word`; UINTPTR_MAX: there
 * is none; 0: it cannot be told (the stack may be another thread's, and even be gone). Paint: fills the calling thread's dead memory
 * from `low` up to just below its stack pointer.
 */
uintptr_t instr_platform_stack_mapped(uintptr_t low, uintptr_t high);
bool instr_platform_stack_word(uintptr_t address, uintptr_t *word);
uintptr_t instr_platform_stack_touched(uintptr_t low, uintptr_t high, uintptr_t word);
void instr_platform_stack_paint(uintptr_t low, uintptr_t word);

/* The C library's heap, in bytes: got from the system (all arenas), in blocks handed out, free, and in blocks mapped one by one. */
struct instr_heap {
    uint64_t arena;
    uint64_t used;
    uint64_t free;
    uint64_t mapped;
};
bool instr_platform_heap(struct instr_heap *heap);

/*
 * Sampling (platform/NAME_sampling.c, sampling/sampling.h). Begin: takes the signal called `name` (NULL: the usual one) or whatever ends
 * periods; NULL, or why there will be no samples. Thread: the calling thread's periods begin, by `clock` or the next best, which it then
 * says; `sampling` (timer, clock) names what stop ends, from any thread; false: it was gone already, closed by the program. End: no period is acted upon any more.
 */
const char *instr_platform_sampling_begin(const char *name);
struct instr_sampling;
bool instr_platform_sampling_thread(uint64_t period_ns, uint32_t *clock, struct instr_sampling *sampling, uint32_t *signal);
bool instr_platform_sampling_stop(const struct instr_sampling *sampling);
void instr_platform_sampling_end(void);

/* The program asks for a signal's handling (`old`, a struct sigaction, or NULL) or is about to take it (`takes`). False: it is not ours. */
bool instr_platform_sampling_signal(int signal, bool takes, void *old);

/* The program is about to wait for the signals of `set`, a sigset_t: it takes ours, if that is among them. */
void instr_platform_sampling_awaited(const void *set);

/*
 * What the system counts of processors (platform/NAME_processors.c). How many of them the process may use, 0: not known; and how much of them, in thousandths of
 * one, 0: all. The processor time of the calling thread so far, for less than 1 us; and of a thread of this process also the time that it was ready to run
 * and waited, for some 10 us. False: the system does not count it.
 */
#if INSTR_HAS_THREAD_TIME
uint32_t instr_platform_processors(void);
uint32_t instr_platform_processor_quota(void);
uint64_t instr_platform_run_ns(void);
bool instr_platform_thread_time(uint32_t os_tid, uint64_t *run_ns, uint64_t *wait_ns);
#endif

/*
 * Context switches (platform/NAME_switches.c). Refused: NULL, or why there will be none, for the trace. Open: the system records those of the calling
 * thread from now on, which runs on `processor`; false: it does not. Next: takes the next record; false: there is none. Done: the system may use
 * again the room of those that were taken, or of all. `forced`: the user wants it, whatever he risks.
 */
#if INSTR_HAS_SWITCHES
struct instr_switch_ring {
    void *map; /* NULL: none */
    size_t bytes;
    const volatile uint64_t *head; /* bytes that the system has written so far … */
    uint64_t tail;                 /* … and those that were taken */
    uint64_t size;                 /* room for so many */
};

struct instr_switch {
    uint32_t state;  /* INSTR_SCHEDULED_* */
    uint32_t number; /* as in the event `scheduled` */
    uint64_t ns;     /* instr_platform_monotonic_ns() then; not of INSTR_SCHEDULED_UNKNOWN, which is the time up to the next record */
};

bool instr_platform_switches_launched(void); /* `instr run` records those of this process, for as long as it runs */
const char *instr_platform_switches_refused(bool forced);
bool instr_platform_switches_open(bool forced, struct instr_switch_ring *ring, uint32_t *processor);
void instr_platform_switches_close(struct instr_switch_ring *ring);
bool instr_platform_switches_next(struct instr_switch_ring *ring, struct instr_switch *found);
void instr_platform_switches_done(struct instr_switch_ring *ring, bool all);
uint64_t instr_platform_switches_count(void); /* switches of the calling thread, as the system counts them */
#endif

/* One line to the standard error stream, only when the user asked for it (INSTR_VERBOSE). */
void instr_platform_say(const char *text);

#endif
