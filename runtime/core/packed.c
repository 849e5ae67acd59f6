#include "core/cold.h"

#include "core/packed.h"

void instr_parallel_far(struct instr_thread *t, uint32_t seq, uintptr_t function, uint32_t requested, uint32_t kind)
{
    instr_parallel_put(t, seq, function, requested, kind, 1);
}
