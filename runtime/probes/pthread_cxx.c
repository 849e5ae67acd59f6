/*
 * Functions of GNU's C++ library that make threads and wait, for programs whose library is a shared one: what it calls of the C library is not
 * theirs then.
 *
 * A new std::thread runs an object with three virtual functions, in the order of the Itanium ABI: two destructors and the one that runs. An object of
 * ours takes its place: whatever becomes of it, it does the same with the one that it stands for.
 */
#include "core/cold.h"

#include "probes/pthread.h"

#include "probes/large_block.h"
#include "probes/pthread_start.h"

typedef void method(void *self);

/* Of a table of virtual functions, from where objects point to. */
struct methods {
    method *destroy;
    method *destroy_and_free;
    method *run;
};

struct state {
    const struct methods *methods;
    struct instr_pthread_start start;
    struct state *inner;
};

static void run(void *self)
{
    const struct state *const state = self;
    instr_pthread_starts(&state->start);
    state->inner->methods->run(state->inner);
}

static void destroy(void *self)
{
    struct state *const inner = ((struct state *)self)->inner;
    inner->methods->destroy_and_free(inner);
}

static void destroy_and_free(void *self)
{
    destroy(self);
    instr_large_block_free(self);
}

/* As compilers write them: how far the object is from its whole, and its type, stand in front. */
static const struct {
    intptr_t offset;
    const void *type;
    struct methods methods;
} TABLE = {0, NULL, {destroy, destroy_and_free, run}};

void instr_probe_cxx_thread(void (*real)(void *, void *, void (*)(void)), uintptr_t site, void *thread, void *owner, void (*depend)(void))
{
    struct state **const place = owner; /* a unique_ptr */
    struct state *const inner = *place;
    struct instr_thread *const t = inner == NULL ? NULL : instr_pthread_thread(INSTR_PTHREAD_THREADS);
    struct state *const state = t == NULL ? NULL : instr_large_block(sizeof *state);
    if (state == NULL) {
        real(thread, owner, depend);
        return;
    }
    state->methods = &TABLE.methods;
    state->inner = inner;
    instr_pthread_creates(t, &state->start, (uintptr_t)inner->methods->run, site);
    *place = state;
    instr_pthread_own.outer = true;
    real(thread, owner, depend); /* it throws when there is no thread: then the owner destroys both */
    instr_pthread_own.outer = false;
    instr_pthread_created(t, 0);
}

void instr_probe_cxx_join(void (*real)(void *), uintptr_t site, void *thread)
{
    struct instr_thread *const t = instr_pthread_thread(INSTR_PTHREAD_WAITS);
    if (t == NULL) {
        real(thread);
        return;
    }
    instr_pthread_wait_begins(t, INSTR_SYNC_JOIN, *(void *const *)thread, NULL, site);
    instr_pthread_own.outer = true;
    real(thread);
    instr_pthread_own.outer = false;
    instr_pthread_wait_ends(t);
}

void instr_probe_cxx_wait(void (*real)(void *, void *), uintptr_t site, void *condition, void *lock)
{
    struct instr_thread *const t = instr_pthread_thread(INSTR_PTHREAD_WAITS);
    if (t == NULL) {
        real(condition, lock);
        return;
    }
    instr_pthread_wait_begins(t, INSTR_SYNC_CONDITION, condition, *(void *const *)lock, site); /* a unique_lock begins with its mutex */
    instr_pthread_own.outer = true;
    real(condition, lock);
    instr_pthread_own.outer = false;
    instr_pthread_wait_ends(t);
}

bool instr_probe_cxx_future(bool (*real)(void *, void *, unsigned, bool, long, long), uintptr_t site, void *future, void *word, unsigned value,
                            bool has_end, long seconds, long nanoseconds)
{
    struct instr_thread *const t = instr_pthread_thread(INSTR_PTHREAD_WAITS);
    if (t != NULL)
        instr_pthread_wait_begins(t, INSTR_SYNC_FUTURE, future, NULL, site);
    const bool result = real(future, word, value, has_end, seconds, nanoseconds);
    if (t != NULL)
        instr_pthread_wait_ends(t);
    return result;
}
