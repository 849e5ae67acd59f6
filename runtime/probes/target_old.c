/* Device constructs as GCC 4.9 and 5 call them. */
#include "core/cold.h"

#include "instr/probes.h"
#include "probes/target.h"

void instr_probe_target(void (*real)(int, instr_fn *, const void *, size_t, void **, size_t *, unsigned char *), int device,
                        instr_fn *fn, const void *unused, size_t count, void **hostaddrs, size_t *sizes, unsigned char *kinds)
{
    struct instr_thread *t = instr_thread();
    instr_target_begin(t, INSTR_TARGET_REGION, (uintptr_t)fn, device, 0);
    real(device, fn, unused, count, hostaddrs, sizes, kinds);
    instr_target_end(t, INSTR_TARGET_REGION);
}

void instr_probe_target_data(void (*real)(int, const void *, size_t, void **, size_t *, unsigned char *), unsigned kind, int device,
                             const void *unused, size_t count, void **hostaddrs, size_t *sizes, unsigned char *kinds)
{
    struct instr_thread *t = instr_thread();
    instr_target_begin(t, kind, 0, device, 0);
    real(device, unused, count, hostaddrs, sizes, kinds);
    instr_target_end(t, kind);
}
