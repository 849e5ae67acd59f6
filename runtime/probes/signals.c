/* The program's own handlers, and its waiting for signals: one that samples are taken by is given up as soon as the program wants it. */
#include "core/cold.h"

#include "instr/probes.h"
#include "platform/platform.h"

/* A program that handles signals is not sampled for that: only where its link asks for sampling are these there. */
#pragma weak instr_platform_sampling_signal
#pragma weak instr_platform_sampling_awaited

static bool taken(int signal, bool takes, void *old)
{
    return instr_platform_sampling_signal != NULL && instr_platform_sampling_signal(signal, takes, old);
}

int instr_probe_sigaction(int (*real)(int, const void *, void *), int signal, const void *action, void *old)
{
    struct instr_guest guest;
    instr_platform_enter(&guest);
    const bool ours = action == NULL && taken(signal, false, old);
    if (action != NULL)
        (void)taken(signal, true, NULL);
    instr_platform_leave(&guest);
    return ours ? 0 : real(signal, action, old);
}

void *instr_probe_signal(void *(*real)(int, void *), int signal, void *handler)
{
    struct instr_guest guest;
    instr_platform_enter(&guest);
    (void)taken(signal, true, NULL);
    instr_platform_leave(&guest);
    return real(signal, handler);
}

static void awaited(const void *set)
{
    struct instr_guest guest;
    instr_platform_enter(&guest);
    if (instr_platform_sampling_awaited != NULL)
        instr_platform_sampling_awaited(set);
    instr_platform_leave(&guest);
}

int instr_probe_sigwait(int (*real)(const void *, void *), const void *set, void *found)
{
    awaited(set);
    return real(set, found);
}

int instr_probe_sigtimedwait(int (*real)(const void *, void *, const void *), const void *set, void *found, const void *timeout)
{
    awaited(set);
    return real(set, found, timeout);
}

int instr_probe_signalfd(int (*real)(int, const void *, int), int file, const void *set, int flags)
{
    awaited(set);
    return real(file, set, flags);
}
