/* The small events: inline, or by one call where code size counts (core/small_events.c). Included by core/record.h. */
#if INSTR_ARCH_SMALL
void instr_event0(struct instr_thread *t, unsigned id);
void instr_event_words(struct instr_thread *t, unsigned id, size_t words, uint32_t a, uint32_t b, uint32_t c);
#else
static inline void instr_event0(struct instr_thread *t, unsigned id)
{
    struct instr_slot s;
    if (instr_open_here(t, &s, id, 0) != NULL)
        instr_close(&s);
}

/* An event of `words` words, which is a constant. */
static inline __attribute__((always_inline)) void instr_event_words(struct instr_thread *t, unsigned id, size_t words, uint32_t a, uint32_t b,
                                                                    uint32_t c)
{
    struct instr_slot s;
    uint32_t *p = instr_open_here(t, &s, id, words);
    if (p == NULL)
        return;
    p = instr_put32(p, a);
    if (words > 2)
        INSTR_BARRIER(); /* a store each; put together in a vector first, they take three instructions more */
    if (words > 1)
        p = instr_put32(p, b);
    if (words > 2)
        instr_put32(p, c);
    instr_close(&s);
}
#endif

static inline __attribute__((always_inline)) void instr_event1(struct instr_thread *t, unsigned id, uint32_t a)
{
    instr_event_words(t, id, 1, a, 0, 0);
}

static inline __attribute__((always_inline)) void instr_event2(struct instr_thread *t, unsigned id, uint32_t a, uint32_t b)
{
    instr_event_words(t, id, 2, a, b, 0);
}

static inline __attribute__((always_inline)) void instr_event3(struct instr_thread *t, unsigned id, uint32_t a, uint32_t b, uint32_t c)
{
    instr_event_words(t, id, 3, a, b, c);
}

/* An event of a word and an address. */
static inline void instr_event_addr(struct instr_thread *t, unsigned id, uint32_t word, const void *address)
{
#if INSTR_ARCH_SMALL
    uint32_t words[2] = {0};
    instr_put_addr(words, (uintptr_t)address);
    instr_event_words(t, id, 1 + INSTR_ADDR_WORDS, word, words[0], words[1]);
#else
    struct instr_slot s;
    uint32_t *p = instr_open_here(t, &s, id, 1 + INSTR_ADDR_WORDS);
    if (p != NULL) {
        instr_put_addr(instr_put32(p, word), (uintptr_t)address);
        instr_close(&s);
    }
#endif
}

/* Two events of one word each at one time. */
#if INSTR_ARCH_SMALL
static inline void instr_event1_pair(struct instr_thread *t, unsigned first, uint32_t a, unsigned second, uint32_t b)
{
    instr_event1(t, first, a);
    instr_event1(t, second, b);
}
#else
static inline void instr_event1_pair(struct instr_thread *t, unsigned first, uint32_t a, unsigned second, uint32_t b)
{
    struct instr_slot s;
    uint32_t *p = instr_open(t, &s, first, 1 + INSTR_HEADER_WORDS + 1);
    if (!INSTR_LIKELY(p != NULL)) { /* the first one is counted */
        instr_event1(t, second, b);
        return;
    }
    instr_put32(instr_open_second(t, instr_put32(p, a), second), b);
    instr_close(&s);
}
#endif
