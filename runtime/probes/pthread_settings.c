/* INSTR_PTHREAD, and the names of threads. */
#include "core/cold.h"

#include "probes/pthread.h"

#include <string.h>

#include "core/packet.h"
#include "core/process.h"
#include "library/table.h"
#include "platform/platform.h"

uint32_t instr_pthread_level = INSTR_KEEPS_RUNS ? INSTR_PTHREAD_OFF : INSTR_PTHREAD_ALL; /* until it is read */
bool instr_pthread_made;
static char program_name[INSTR_CFG_NAME_BYTES]; /* what threads are called that nobody has named */

const uint32_t *instr_pthread_levels(void)
{
    return &instr_pthread_level;
}

void instr_pthread_settings(void)
{
    static const char *const NAMES[] = {"off", "threads", "waits", "all"};
    const char *const text = instr_setting_text("INSTR_PTHREAD");
    uint32_t level = instr_libraries_have(INSTR_LIBRARY_PRELOADED) ? INSTR_PTHREAD_WAITS : INSTR_PTHREAD_ALL;
    if (text != NULL) {
        uint32_t wanted = 0;
        while (wanted < sizeof NAMES / sizeof NAMES[0] && strcmp(text, NAMES[wanted]) != 0)
            wanted++;
        if (wanted < sizeof NAMES / sizeof NAMES[0])
            level = wanted;
        else
            instr_settings_complain("INSTR_PTHREAD is not off, threads, waits or all; the default is used");
    }
    instr_platform_name_of(0, program_name, sizeof program_name);
    instr_pthread_level = level;
}

/* Words of a name event. 0: there is no name to tell. */
static unsigned name_words(uint32_t *words, uint32_t os_tid)
{
    const size_t length = strlen((const char *)words);
    if (length == 0)
        return 0;
    return (unsigned)(instr_put_addr(words + length / 4 + 1, os_tid) - words);
}

void instr_pthread_end(struct instr_thread *t)
{
    uint32_t words[INSTR_CFG_NAME_BYTES / 4 + INSTR_ADDR_WORDS] = {0};
    if (instr_pthread_level == INSTR_PTHREAD_OFF || !instr_pthread_made || program_name[0] == '\0')
        return;
    instr_platform_name_of(t == instr_self ? 0 : t->os_tid, (char *)words, INSTR_CFG_NAME_BYTES);
    if (strcmp((const char *)words, program_name) == 0)
        return;
    const unsigned count = name_words(words, t->os_tid);
    if (count != 0)
        (void)instr_packet_append(t, INSTR_EV_THREAD_NAME, words, count);
}

int instr_probe_pthread_setname(int (*real)(unsigned long, const char *), unsigned long thread, const char *name)
{
    const int failed = real(thread, name);
    struct instr_thread *t = NULL;
    if (failed == 0 && thread == instr_platform_self())
        t = instr_pthread_thread(INSTR_PTHREAD_THREADS);
    if (t == NULL)
        return failed;
    uint32_t words[INSTR_CFG_NAME_BYTES / 4 + INSTR_ADDR_WORDS] = {0};
    const size_t length = strlen(name);
    if (length >= INSTR_CFG_NAME_BYTES)
        return failed;
    memcpy(words, name, length);
    const unsigned count = name_words(words, t->os_tid);
    struct instr_slot s;
    uint32_t *p = count == 0 ? NULL : instr_open(t, &s, INSTR_EV_THREAD_NAME, count);
    if (p != NULL) {
        memcpy(p, words, 4 * (size_t)count);
        instr_close(&s);
    }
    return failed;
}
