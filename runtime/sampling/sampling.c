#include "sampling/sampling.h"

#include <string.h>

#include "core/packet.h"
#include "core/process.h"
#include "core/record.h"
#include "core/settings.h"

#if INSTR_PLATFORM_SMALL
#define MOST_FRAMES 32u /* on the stack of an interrupt */
#else
#define MOST_FRAMES 128u
#endif

static volatile bool on;

void instr_sampling_begin(void)
{
    if (instr_settings.sampling_ns == 0)
        return;
    const char *const trouble = instr_platform_sampling_begin(instr_settings.sampling_signal);
    on = trouble == NULL;
    if (trouble != NULL)
        instr_settings_complain(trouble);
}

void instr_sampling_end(void)
{
    if (on)
        instr_platform_sampling_end();
    on = false;
}

void instr_sampling_give_up(void)
{
    if (!on)
        return;
    on = false;
    instr_process_each(instr_sampling_stop_thread);
    if (instr_settings.trouble == NULL)
        instr_settings.trouble = "the program takes the signal of INSTR_SAMPLING_SIGNAL; sampling has ended there";
}

void instr_sampling_begin_thread(struct instr_thread *t)
{
    struct instr_slot s;
    uint32_t *p;
    uint32_t signal = 0;
    uint32_t clock = instr_settings.sampling_clock;
    if (!on)
        return;
    if (t->stack.high == 0)
        instr_stack_begin(t); /* return addresses are looked for inside its bounds only */
    if (!instr_platform_sampling_thread(instr_settings.sampling_ns, &clock, &t->sampling, &signal))
        return;
    t->sampling.armed = 1;
    if ((p = instr_open(t, &s, INSTR_EV_SAMPLING, 4)) != NULL) {
        p = instr_put32(instr_put32(p, clock), signal);
        instr_put64(p, instr_settings.sampling_ns);
        instr_close(&s);
    }
}

void instr_sampling_stop_thread(struct instr_thread *t)
{
    if (t->sampling.armed != 0 && !instr_platform_sampling_stop(&t->sampling) && instr_settings.trouble == NULL)
        instr_settings.trouble = "the program closed the descriptor that a thread was sampled by; its samples end there";
    t->sampling.armed = 0;
}

static uint32_t *put(uint32_t *p, const struct instr_sampling *sample, const uintptr_t *stack)
{
    p = instr_put_addr(instr_put_addr(p, sample->pc), sample->sp);
    p = instr_put32(instr_put32(p, sample->waiting), sample->count);
    for (uint32_t i = 0; i < sample->count; i++)
        p = instr_put_addr(p, stack[i]);
    return p;
}

#define SAMPLE_WORDS(count) (2u + (2u + (count)) * INSTR_ADDR_WORDS)

void instr_sampling_end_thread(struct instr_thread *t)
{
    struct instr_sampling *sample = &t->sampling;
    uint32_t words[SAMPLE_WORDS(INSTR_SAMPLE_KEPT + INSTR_SAMPLE_BEHIND)];
    if (sample->waiting != 0) {
        put(words, sample, sample->stack);
        if (!instr_packet_append(t, INSTR_EV_SAMPLE, words, SAMPLE_WORDS(sample->count)))
            sample->lost += sample->waiting;
        sample->waiting = 0;
    }
    if (sample->lost != 0)
        (void)instr_packet_append(t, INSTR_EV_SAMPLE_LOST, &sample->lost, 1);
    sample->lost = 0;
}

/* Writes what earlier periods left. */
static void catch_up(struct instr_thread *t)
{
    struct instr_sampling *sample = &t->sampling;
    struct instr_slot s;
    uint32_t *p;
    if (sample->waiting != 0) {
        if ((p = instr_open(t, &s, INSTR_EV_SAMPLE, SAMPLE_WORDS(sample->count))) != NULL) {
            put(p, sample, sample->stack);
            instr_close(&s);
        } else {
            sample->lost += sample->waiting;
        }
        sample->waiting = 0;
    }
    if (sample->lost != 0 && (p = instr_open(t, &s, INSTR_EV_SAMPLE_LOST, 1)) != NULL) {
        instr_put32(p, sample->lost);
        instr_close(&s);
        sample->lost = 0;
    }
}

#if defined(__x86_64__)
/* With a copy of the stack, for the host to find the return addresses. */
static bool put_copy(struct instr_thread *t, const struct instr_interrupted *at, uint32_t weight)
{
    struct instr_slot s;
    const uintptr_t high = t->stack.high;
    if (instr_settings.sampling_stack == 0 || at->sp < t->stack.low || at->sp >= high || at->sp % sizeof(uintptr_t) != 0)
        return false;
    size_t bytes = high - at->sp;
    if (bytes > instr_settings.sampling_stack)
        bytes = instr_settings.sampling_stack;
    const uint32_t words = (uint32_t)(bytes / sizeof(uintptr_t));
    const uint32_t count = words + INSTR_SAMPLE_REGISTERS;
    uint32_t *p = instr_open(t, &s, INSTR_EV_SAMPLE_STACK, 3 + (2 + (size_t)count) * INSTR_ADDR_WORDS);
    if (p == NULL)
        return true; /* counted as discarded */
    p = instr_put_addr(instr_put_addr(p, at->pc), at->sp);
    p = instr_put32(instr_put32(instr_put32(p, weight), INSTR_SAMPLE_REGISTERS), count);
    for (unsigned i = 0; i < INSTR_SAMPLE_REGISTERS; i++)
        p = instr_put_addr(p, at->registers[i]);
    memcpy(p, (const void *)at->sp, (size_t)words * sizeof(uintptr_t));
    instr_close(&s);
    return true;
}
#else
/* Register windows say all there is. */
static bool put_copy(struct instr_thread *t, const struct instr_interrupted *at, uint32_t weight)
{
    (void)t;
    (void)at;
    (void)weight;
    return false;
}
#endif

/* With the return addresses that can be told at once. */
static void put_frames(struct instr_thread *t, const struct instr_interrupted *at, uintptr_t high, uint32_t weight)
{
    uintptr_t stack[MOST_FRAMES + INSTR_SAMPLE_BEHIND];
    const unsigned room = instr_settings.sampling_depth < MOST_FRAMES ? instr_settings.sampling_depth : MOST_FRAMES;
    struct instr_sampling now = {.pc = at->pc, .sp = at->sp, .waiting = weight};
    now.count = instr_sampling_frames(at, high, stack, room);
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, INSTR_EV_SAMPLE, SAMPLE_WORDS(now.count));
    if (p == NULL)
        return;
    put(p, &now, stack);
    instr_close(&s);
}

void instr_sampling_take(const struct instr_interrupted *at, uint32_t weight)
{
    struct instr_thread *t = instr_self;
    if (t == NULL || !on || instr_process.active == INSTR_OFF)
        return;
    struct instr_sampling *sample = &t->sampling;
    const uintptr_t high = at->sp >= t->stack.low ? t->stack.high : 0; /* on a stack of its own: the program counter alone */
    if (instr_is_busy(t->limit)) { /* inside an event: this one is told at the end of the next period */
        if (sample->waiting != 0) {
            sample->lost += weight;
            return;
        }
        sample->pc = at->pc;
        sample->sp = at->sp;
        sample->count = instr_sampling_frames(at, high, sample->stack, INSTR_SAMPLE_KEPT);
        sample->waiting = weight;
        return;
    }
    sample->taking = 1;
    catch_up(t);
    if (!put_copy(t, at, weight))
        put_frames(t, at, high, weight);
    instr_point(t, INSTR_AT_SAMPLE);
    sample->taking = 0;
}

void instr_sampling_missed(uint32_t weight)
{
    struct instr_thread *const t = instr_self;
    if (t != NULL && on && instr_process.active != INSTR_OFF)
        t->sampling.lost += weight;
}
