/*
 * Target regions. One with nowait or depend is a task. Where it surely runs on the host (the if clause is false, or there is no device),
 * libgomp is given our body, and the task's identity as one more argument in front of the user's: an entry mapped
 * firstprivate, which libgomp copies for as long as the task lives.
 *
 *   user:  hostaddrs = [a0, a1, …]               ─► fn(hostaddrs)
 *   here:  hostaddrs = [&header, a0, a1, …]      ─► target_body ─► fn(hostaddrs + 1)
 *
 * On a device, the body's address is the key to the device's code, so it is left alone: of a nowait region only the creation is told then.
 */
#include "core/cold.h"

#include "instr/probes.h"
#include "probes/target.h"

extern int omp_get_num_devices(void);

#define HOST_FALLBACK (-2)
#define MAP_FIRSTPRIVATE 12u /* GOMP_MAP_FIRSTPRIVATE of gomp-constants.h; the alignment's logarithm is in the upper byte */
#define MAX_ENTRIES (INSTR_PLATFORM_SMALL ? 24u : 64u)      /* arguments of regions that get our body: the arrays are copied on this stack */

struct target_header {
    instr_fn *fn;
    uint32_t thread;
    uint32_t seq;
};

static void target_body(void *arguments)
{
    void **const entries = arguments;
    const struct target_header h = *(const struct target_header *)entries[0];
    struct instr_thread *t = instr_thread();
    uint32_t outer[2];
    if (t != NULL)
        instr_target_task_begin(t, h.thread, h.seq, outer);
    h.fn(entries + 1);
    if (t != NULL)
        instr_target_task_end(t, outer);
}

typedef void target_fn(int, instr_fn *, size_t, void **, size_t *, unsigned short *, unsigned, void **, void **);

static void call_with_body(target_fn *real, struct target_header *h, int device, size_t count, void **hostaddrs, size_t *sizes,
                           unsigned short *kinds, unsigned flags, void **depend, void **args)
{
    void *entries[MAX_ENTRIES + 1];
    size_t entry_sizes[MAX_ENTRIES + 1];
    unsigned short entry_kinds[MAX_ENTRIES + 1];
    entries[0] = h;
    entry_sizes[0] = sizeof *h;
    entry_kinds[0] = (unsigned short)(MAP_FIRSTPRIVATE | (sizeof(void *) == 8 ? 3u : 2u) << 8);
    for (size_t i = 0; i < count; i++) {
        entries[i + 1] = hostaddrs[i];
        entry_sizes[i + 1] = sizes[i];
        entry_kinds[i + 1] = kinds[i];
    }
    real(device, target_body, count + 1, entries, entry_sizes, entry_kinds, flags, depend, args);
}

void instr_probe_target_ext(target_fn *real, int device, instr_fn *fn, size_t count, void **hostaddrs, size_t *sizes,
                            unsigned short *kinds, unsigned flags, void **depend, void **args)
{
    struct instr_thread *t = instr_thread();
    if (t == NULL) {
        real(device, fn, count, hostaddrs, sizes, kinds, flags, depend, args);
        return;
    }
    const bool nowait = (flags & TARGET_NOWAIT) != 0;
    const bool task = nowait || depend != NULL;
    const uint32_t seq = task ? instr_target_task(t, (uintptr_t)fn, depend) : 0;
    instr_target_begin(t, INSTR_TARGET_REGION, (uintptr_t)fn, device, nowait ? INSTR_TARGET_NOWAIT : 0);
    uint32_t outer[2];
    if (task && count <= MAX_ENTRIES && (device == HOST_FALLBACK || omp_get_num_devices() == 0)) {
        struct target_header h = {fn, t->index, seq};
        call_with_body(real, &h, device, count, hostaddrs, sizes, kinds, flags, depend, args);
    } else if (task && !nowait) {
        instr_target_task_begin(t, t->index, seq, outer);
        real(device, fn, count, hostaddrs, sizes, kinds, flags, depend, args);
        instr_target_task_end(t, outer);
    } else {
        real(device, fn, count, hostaddrs, sizes, kinds, flags, depend, args);
    }
    instr_target_end(t, INSTR_TARGET_REGION);
    if (task)
        instr_event0(t, INSTR_EV_TASK_CREATED);
}
