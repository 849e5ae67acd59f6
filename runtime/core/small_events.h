/* The small events, inline. Where size counts more than calls they are in core/small_events.c. */
static inline void instr_event0(struct instr_thread *t, unsigned id)
{
    struct instr_slot s;
    if (instr_open_here(t, &s, id, 0) != NULL)
        instr_close(&s);
}

static inline void instr_event1(struct instr_thread *t, unsigned id, uint32_t a)
{
    struct instr_slot s;
    uint32_t *p = instr_open_here(t, &s, id, 1);
    if (p != NULL) {
        instr_put32(p, a);
        instr_close(&s);
    }
}

static inline void instr_event2(struct instr_thread *t, unsigned id, uint32_t a, uint32_t b)
{
    struct instr_slot s;
    uint32_t *p = instr_open_here(t, &s, id, 2);
    if (p != NULL) {
        instr_put32(instr_put32(p, a), b);
        instr_close(&s);
    }
}
