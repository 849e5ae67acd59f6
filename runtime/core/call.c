/* Events of generated stubs for described functions that have no probe of their own. */
#include "core/record.h"
#include "instr/probes.h"

#define MAX_ARGS 16u

void instr_call_begin(const char *name, uint32_t count, const uint64_t *args)
{
    struct instr_thread *t = instr_thread();
    struct instr_slot s = {NULL, NULL, NULL}; /* GCC 11 does not see that it is set where p is */
    if (t == NULL)
        return;
    if (count > MAX_ARGS)
        count = MAX_ARGS;
    uint32_t *p = instr_open_named(t, &s, INSTR_EV_CALL_BEGIN, INSTR_ADDR_WORDS + 1 + 2 * (size_t)count, name);
    if (p == NULL)
        return;
    p = instr_put32(instr_put_addr(p, (uintptr_t)name), count);
    for (uint32_t i = 0; i < count; i++)
        p = instr_put64(p, args[i]);
    instr_close(&s);
}

void instr_call_end(uint64_t result)
{
    struct instr_thread *t = instr_thread();
    struct instr_slot s;
    uint32_t *p;
    if (t != NULL && (p = instr_open(t, &s, INSTR_EV_CALL_END, 2)) != NULL) {
        instr_put64(p, result);
        instr_close(&s);
    }
}
