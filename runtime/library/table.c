/*
 * The table that the runtime offers to libraries (library/table.h), and the note by which it is found in a program. Linkers put notes into a
 * segment that is in memory; neither a version script nor strip touches it.
 */
#include "core/cold.h"

#define INSTR_IMPLEMENTATION
#include "instr/instr.h"

#include "library/table.h"

#include <string.h>

#include "core/pthread_levels.h"
#include "core/settings.h"
#include "instr/functions.h"
#include "instr/probes.h"

#define PROBE_NAME(name) "instr_probe_" #name "\0"
#define FUNCTION_NAME(name) #name "\0"
static const char NAMES[] = INSTR_PROBES(PROBE_NAME) INSTR_FUNCTIONS(FUNCTION_NAME);

#define PROBE(name) (instr_any_fn *)instr_probe_##name,
#define FUNCTION(name) (instr_any_fn *)name,
static instr_any_fn *const OFFERED[] = {INSTR_PROBES(PROBE) INSTR_FUNCTIONS(FUNCTION)};

static instr_any_fn *find(const char *name)
{
    const char *offered = NAMES;
    for (unsigned i = 0; i < sizeof OFFERED / sizeof OFFERED[0]; i++) {
        if (strcmp(offered, name) == 0)
            return OFFERED[i];
        offered += strlen(offered) + 1;
    }
    return NULL;
}

const struct instr_table instr_table = {
    INSTR_TABLE_VERSION, sizeof instr_table, find, instr_library_join, instr_library_leave, &instr_library_joins, instr_library_places,
};

#ifdef INSTR_SHARED
const struct instr_table *instr_shared_table(void)
{
    return &instr_table;
}
#else
/* Owner (6 bytes, padded to 8), descriptor (4 bytes), type; a distance needs no relocation when the program is loaded. */
__asm__(".pushsection .note.instr,\"a\",%note\n"
        ".balign 4\n"
        ".long 6\n"
        ".long 4\n"
        ".long 1\n" /* INSTR_NOTE_TABLE */
        ".asciz \"" INSTR_NOTE_NAME "\"\n"
        ".balign 4\n"
        ".long instr_table - .\n"
        ".popsection\n");
_Static_assert(INSTR_NOTE_TABLE == 1 && sizeof INSTR_NOTE_NAME == 6, "the note says so");
#endif
