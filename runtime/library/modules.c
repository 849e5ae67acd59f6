#include "core/cold.h"

#include "library/modules.h"

#include <stdbool.h>
#include <string.h>

#include "core/text.h"
#include "platform/platform.h"
#include "sinks/sink.h"

#define CHUNK_BYTES 65536u
#define MOST 4096u /* programs that load libraries without end do not fill the memory with names */

struct instr_module {
    struct instr_module *next;
    uint64_t since; /* ticks; 0: from the beginning, as far as is known */
    uintptr_t base; /* load bias */
    uintptr_t end;
    const char *path;
    const uint8_t *id; /* build id */
    size_t id_bytes;
};

static struct {
    struct instr_module *first;
    struct instr_module *last;
    char *room;
    size_t left;
    unsigned count;
    uint64_t now; /* of the visit in progress */
} list;

static void *take(size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > CHUNK_BYTES)
        return NULL;
    if (bytes > list.left) {
        list.room = instr_platform_memory(CHUNK_BYTES);
        list.left = list.room != NULL ? CHUNK_BYTES : 0;
        if (list.room == NULL)
            return NULL;
    }
    void *const place = list.room;
    list.room += bytes;
    list.left -= bytes;
    return place;
}

/* Whether the place of an object is known to be its own: the last one seen there is the same. */
static bool is_known(uintptr_t base, uintptr_t end, const uint8_t *id, size_t id_bytes, const char *path)
{
    const struct instr_module *there = NULL;
    for (const struct instr_module *m = list.first; m != NULL; m = m->next)
        if (base < m->end && m->base < end)
            there = m;
    return there != NULL && there->base == base && there->end == end && there->id_bytes == id_bytes &&
           (id_bytes == 0 || memcmp(there->id, id, id_bytes) == 0) && strcmp(there->path, path) == 0;
}

static void see(void *arg, uintptr_t base, uintptr_t end, const uint8_t *id, size_t id_bytes, const char *path)
{
    (void)arg;
    if (is_known(base, end, id, id_bytes, path) || list.count == MOST)
        return;
    const size_t length = strlen(path) + 1;
    struct instr_module *const m = take(sizeof *m + id_bytes + length);
    if (m == NULL)
        return;
    uint8_t *const own_id = (uint8_t *)(m + 1);
    char *const own_path = (char *)own_id + id_bytes;
    if (id_bytes != 0)
        memcpy(own_id, id, id_bytes);
    memcpy(own_path, path, length);
    *m = (struct instr_module){NULL, list.now, base, end, own_path, own_id, id_bytes};
    *(list.last != NULL ? &list.last->next : &list.first) = m;
    list.last = m;
    list.count++;
}

static void text(const char *s)
{
    instr_sink_text(s, strlen(s));
}

static void number(uint64_t value)
{
    char digits[INSTR_DECIMAL_BYTES];
    text(instr_decimal(value, 1, digits));
}

void instr_modules_tell(instr_module_fn *fn, uint64_t *arg, uint64_t ticks)
{
    list.now = list.first != NULL ? ticks : 0;
    instr_platform_modules(see, NULL);
    for (const struct instr_module *m = list.first; m != NULL; m = m->next) {
        if (m->since != 0) {
            text("    module_");
            number(*arg);
            text("_since = ");
            number(m->since);
            text(";\n");
        }
        fn(arg, m->base, m->end, m->id, m->id_bytes, m->path);
    }
}
