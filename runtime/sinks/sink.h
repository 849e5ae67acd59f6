/*
 * Where bytes go. A sink owns the place of one trace; names inside it are those of docs/trace-format.md.
 * Every function returns false (or NULL) when the place refuses; the caller counts what is lost.
 */
#ifndef INSTR_SINK_H
#define INSTR_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"

/* One kind of place. A pointer that is NULL stands for a refusal (open_child, window) or for nothing to do (window_remove). */
struct instr_sink {
    const char *name; /* in INSTR_SINK */
    bool keeps;       /* windows of ended threads stay as they are: they are the trace */
    bool shares;      /* a stream may hold packets of several threads, one after another: a thread that begins goes on in an ended one's */
    bool line;        /* a slow line that loses some of what it carries: the metadata comes late, and in copies */

    /* Opens a place for `program`'s trace: `wanted` (INSTR_TRACE) or, when NULL, `./NAME.instr`. Another program's trace is never
     * touched: the next free name with -2, -3 … is taken. */
    bool (*open)(const char *wanted, const char *program);

    /* Opens the place of a forked child inside its parent's. */
    bool (*open_child)(uint32_t pid);

    /* A block of `bytes`, INSTR_WINDOW_HEADER_BYTES of them zeroed, that survives the process (window file `number`), or NULL. In front of it lie INSTR_PRIVATE_BYTES
     * (core/thread.h) of zeroed memory that no other process can write. */
    void *(*window)(uint32_t number, size_t bytes);
    void (*window_remove)(uint32_t number);

    /* Appends a whole packet to a stream, or nothing; where streams are shared, whole packets. A stream that is not shared has the number of
     * its thread. */
    bool (*append)(uint32_t stream, const void *bytes, size_t count);

    /* Text of the metadata, replaced as a whole: begin, write …, end. */
    bool (*text_begin)(void);
    void (*text)(const char *bytes, size_t count);
    bool (*text_end)(void);

    /* instr_metadata_declare(): the text is whole, as readers of CTF want it. NULL: instr extract puts in what is the same in every trace;
     * then neither the text nor the code that writes it has to be on the board. */
    void (*declare)(bool stream);

    /* The text cannot be written again, and no window says that so many events were lost. NULL: it always can. It is there on every system, as
     * give_way is. */
    void (*lost)(uint32_t events);

    /* All is written: so many events, in the packets that were appended. NULL: whoever reads them does not ask. */
    void (*end)(uint64_t events);

    /* All is written, and no event was recorded: what the place held before may have its name back, and this trace may stay under another
     * name, or `vanish`. NULL: it does not matter. It is there on every system, since a program's own sink is not built with the runtime's
     * settings. */
    void (*give_way)(bool vanish);
};

/* Small systems have only those sinks that the program's configuration names (core/static_config.h); static programs of others have
 * the file sink and what the configuration names, all other programs have all (docs/decisions/0013). What is not there is NULL. */
#if INSTR_PLATFORM_SMALL
#define INSTR_SINK_LINKAGE __attribute__((weak))
#else
#define INSTR_SINK_LINKAGE
#endif
extern const struct instr_sink instr_sink_file INSTR_SINK_LINKAGE;
extern const struct instr_sink instr_sink_console __attribute__((weak));
extern const struct instr_sink instr_sink_ram __attribute__((weak));

/* A program may bring a sink of its own (docs/porting.md): INSTR_SINK=own. */
extern const struct instr_sink instr_sink_own __attribute__((weak));
/* Whether the program has the sink of this kind (enum instr_sink_kind). */
bool instr_sink_has(unsigned kind);

/* Why the sink's open refused, or what is worth saying of what it did; NULL: nothing. */
extern const char *instr_sink_trouble;

#if INSTR_KEEPS_RUNS
/* The number of this run among those of its place; 0: the place counts none. */
extern uint32_t instr_sink_run;

/* Where the trace is, or was to be: a path; "" where it has none. */
extern const char *instr_sink_where;
void instr_sink_give_way(bool vanish);
#endif

/* The same calls, to the sink that the settings chose. */
bool instr_sink_open(const char *wanted, const char *program);
bool instr_sink_open_child(uint32_t pid);
void *instr_sink_window(uint32_t number, size_t bytes);
void instr_sink_window_remove(uint32_t number);
bool instr_sink_append(uint32_t stream, const void *bytes, size_t count);
bool instr_sink_keeps(void);
bool instr_sink_shares(void);
bool instr_sink_text_begin(void);
void instr_sink_text(const char *bytes, size_t count);
bool instr_sink_text_end(void);
bool instr_sink_declares(void);
void instr_sink_declare(bool stream);
bool instr_sink_is_line(void);
void instr_sink_lost(uint32_t events);
void instr_sink_end(uint64_t events);

#endif
