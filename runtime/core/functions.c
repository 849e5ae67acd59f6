/* Functions of languages (instr/functions.h): a begin or an end, and the text of each function once a packet. */
#include "instr/functions.h"

#include "core/record.h"
#include "sinks/sink.h"

#if INSTR_HAS_FUNCTIONS

#define COLD __attribute__((noinline, cold))

/*
 * Counters are read behind a begin and before an end: what a thread counts between two readings belongs to the innermost of the functions that
 * were open all the while.
 */
static COLD void read_before(void)
{
    struct instr_thread *const t = instr_thread();
    if (t != NULL)
        instr_point(t, INSTR_AT_FUNCTION);
}

static inline bool is_counted(void)
{
    return !INSTR_LIKELY((instr_process.points & INSTR_AT_FUNCTION) == 0);
}

static inline uint32_t *packet_of(const struct instr_thread *t, struct instr_function *function)
{
    return &function->packets[t->index % INSTR_FUNCTION_THREADS];
}

static inline bool is_known(const struct instr_thread *t, struct instr_function *function)
{
    return __atomic_load_n(packet_of(t, function), __ATOMIC_RELAXED) == t->packet_number;
}

static void define(struct instr_thread *t, struct instr_function *function)
{
    instr_string(t, function->text);
    if (instr_is_defined(t, function->text))
        __atomic_store_n(packet_of(t, function), t->packet_number, __ATOMIC_RELAXED);
}

/* Whatever is in the way: no thread yet, a handler's event, a full packet, a text that is not in it. */
static COLD void record(unsigned id, struct instr_function *function, bool named)
{
    struct instr_thread *const t = instr_thread();
    struct instr_slot s = {NULL, NULL, NULL};
    uint32_t words[INSTR_ADDR_WORDS];
    instr_put_addr(words, (uintptr_t)function->text);
    if (t == NULL || instr_late(t, id, words, INSTR_ADDR_WORDS))
        return;
    if (named && !is_known(t, function))
        define(t, function);
    const bool defined = is_known(t, function);
    uint32_t *p = instr_open(t, &s, id, INSTR_ADDR_WORDS);
    if (p != NULL && named && defined && !is_known(t, function)) { /* a packet began in between: once more, in the new one */
        instr_forget_time(t);
        t->limit = t->slot_end;
        define(t, function);
        p = instr_open(t, &s, id, INSTR_ADDR_WORDS);
    }
    if (p == NULL)
        return;
    instr_put_addr(p, (uintptr_t)function->text);
    instr_close(&s);
    if (named)
        instr_point(t, INSTR_AT_FUNCTION);
}

static inline __attribute__((always_inline)) void event(unsigned id, struct instr_function *function, bool named)
{
    struct instr_slot s;
    if (!named && is_counted())
        read_before();
    uint32_t *const p = instr_open_at_once(&s, id, INSTR_ADDR_WORDS);
    if (!INSTR_LIKELY(p != NULL)) {
        record(id, function, named);
        return;
    }
    if (named && !INSTR_LIKELY(is_known(s.thread, function))) {
        instr_forget_time(s.thread);
        s.thread->limit = s.limit;
        record(id, function, named);
        return;
    }
    instr_put_addr(p, (uintptr_t)function->text);
    instr_close(&s);
    if (named)
        instr_point(s.thread, INSTR_AT_FUNCTION);
}

void instr_function_begin(struct instr_function *function)
{
    event(INSTR_EV_FUNCTION_BEGIN, function, true);
}

void instr_function_end(struct instr_function *function)
{
    event(INSTR_EV_FUNCTION_END, function, false);
}

void instr_function_unwind(struct instr_function *function)
{
    event(INSTR_EV_FUNCTION_UNWIND, function, false);
}

void instr_function_suspend(struct instr_function *function)
{
    event(INSTR_EV_FUNCTION_SUSPEND, function, false);
}

void instr_function_resume(struct instr_function *function)
{
    event(INSTR_EV_FUNCTION_RESUME, function, true);
}

void instr_thread_is_named(const char *name)
{
    uint32_t words[INSTR_CFG_NAME_BYTES / 4 + INSTR_ADDR_WORDS] = {0};
    struct instr_slot s;
    struct instr_thread *const t = instr_thread();
    size_t length = strlen(name);
    if (length >= INSTR_CFG_NAME_BYTES)
        length = INSTR_CFG_NAME_BYTES - 1;
    while (length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80) /* letters stay whole */
        length--;
    if (t == NULL || length == 0 || instr_is_busy(t->limit))
        return;
    memcpy(words, name, length);
    const unsigned count = (unsigned)(instr_put_addr(words + length / 4 + 1, t->os_tid) - words);
    uint32_t *const p = instr_open(t, &s, INSTR_EV_THREAD_NAME, count);
    if (p == NULL)
        return;
    memcpy(p, words, 4 * (size_t)count);
    instr_close(&s);
}

const char *instr_trace_place(void)
{
    return instr_sink_where;
}

#else /* libraries ask for them all the same */

#define NOTHING(name)                             \
    void name(struct instr_function *function) \
    {                                             \
        (void)function;                           \
    }

NOTHING(instr_function_begin)
NOTHING(instr_function_end)
NOTHING(instr_function_unwind)
NOTHING(instr_function_suspend)
NOTHING(instr_function_resume)

void instr_thread_is_named(const char *name)
{
    (void)name;
}

const char *instr_trace_place(void)
{
    return "";
}

#endif
