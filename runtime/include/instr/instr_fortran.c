/*
 * What instr.f90 calls: the calls of instr/instr.h with texts as Fortran has them, of a length and without an end. Names are kept for ever, because
 * the runtime knows them by their addresses.
 */
#if !defined(__INSTR__) && !defined(INSTR_DYNAMIC)
#define INSTR_DYNAMIC /* looks once for the runtime that `instr run` brings */
#endif
#include <instr/instr.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* So many different names are kept; regions with further ones have SURPLUS for a name. A power of two. */
#define NAMES 4096u
#define SURPLUS "(more than 4096 names)"
#define NO_MEMORY "(no memory for the name)"
/* Longer settings are refused by the runtime anyway: it has 4 KiB for them. */
#define LONGEST_CONFIG 8192u

void instr_fortran_event(uint32_t type, uint64_t value);
void instr_fortran_region_begin(const char *name, size_t length);
void instr_fortran_region_end(void);
void instr_fortran_counter(const char *name, size_t length, int64_t value);
int instr_fortran_start(const char *config, size_t length);
int instr_fortran_stop(void);
int instr_fortran_flush(void);

/* Names with an end, each at the first free place behind its hash. Places are taken once and never change again. */
static char *names[NAMES];

/* FNV-1a. */
static uint32_t hash(const char *text, size_t length)
{
    uint32_t sum = 2166136261u;
    for (size_t i = 0; i < length; i++)
        sum = (sum ^ (unsigned char)text[i]) * 16777619u;
    return sum;
}

static int is(const char *kept, const char *text, size_t length)
{
    return strncmp(kept, text, length) == 0 && kept[length] == '\0';
}

/* A copy of the text with an end, or NULL. Does not change errno. */
static char *copy(const char *text, size_t length)
{
    const int before = errno;
    char *made = malloc(length + 1);
    errno = before;
    if (made != NULL) {
        memcpy(made, text, length);
        made[length] = '\0';
    }
    return made;
}

/* The one kept text that is equal to this; a NUL in it is its end. */
static const char *kept(const char *text, size_t length)
{
    const char *const end = memchr(text, 0, length);
    if (end != NULL)
        length = (size_t)(end - text);
    char *made = NULL;
    const uint32_t first = hash(text, length);
    for (uint32_t i = 0; i < NAMES; i++) {
        char **const place = &names[(first + i) % NAMES];
        char *found = __atomic_load_n(place, __ATOMIC_ACQUIRE);
        if (found == NULL) {
            if (made == NULL)
                made = copy(text, length);
            if (made == NULL)
                return NO_MEMORY;
            if (__atomic_compare_exchange_n(place, &found, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
                return made;
        }
        if (is(found, text, length)) {
            free(made); /* another thread was first */
            return found;
        }
    }
    free(made);
    return SURPLUS;
}

/* Whether there is a runtime: without one, nothing is done with names. */
static int is_served(void)
{
#ifdef __INSTR__
    return &instr_region_begin != NULL;
#else
    static void *place;
    return instr_i_find(&place, "instr_region_begin") != NULL;
#endif
}

void instr_fortran_event(uint32_t type, uint64_t value)
{
    instr_event(type, value);
}

void instr_fortran_region_begin(const char *name, size_t length)
{
    if (is_served())
        instr_region_begin(kept(name, length));
}

void instr_fortran_region_end(void)
{
    instr_region_end();
}

void instr_fortran_counter(const char *name, size_t length, int64_t value)
{
    if (is_served())
        instr_counter(kept(name, length), value);
}

int instr_fortran_start(const char *config, size_t length)
{
    if (length == 0)
        return instr_start(NULL);
    if (!is_served())
        return INSTR_NOT_RECORDED;
    char *const text = length <= LONGEST_CONFIG ? copy(config, length) : NULL;
    if (text == NULL)
        return INSTR_REFUSED;
    const int result = instr_start(text);
    free(text);
    return result;
}

int instr_fortran_stop(void)
{
    return instr_stop();
}

int instr_fortran_flush(void)
{
    return instr_flush();
}
