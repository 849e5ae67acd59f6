// usage: one_runtime_host [keep] [deep] [apart] LIBRARY…
// Loads one library after the other, calls it, and unloads it, unless it is to keep them. `deep`: a library's own symbols come first;
// `apart`: each in a name space of its own.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <instr/instr.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int keep = 0, apart = 0, mode = RTLD_NOW | RTLD_LOCAL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "keep") == 0) {
            keep = 1;
        } else if (strcmp(argv[i], "deep") == 0) {
            mode |= RTLD_DEEPBIND;
        } else if (strcmp(argv[i], "apart") == 0) {
            apart = 1;
        } else {
            void *library = apart ? dlmopen(LM_ID_NEWLM, argv[i], RTLD_NOW) : dlopen(argv[i], mode);
            if (library == NULL) {
                printf("%s\n", dlerror());
                return 1;
            }
            int (*work)(int);
            *(void **)&work = dlsym(library, "library_work");
            if (work == NULL)
                return 2;
            instr_event(901, (unsigned)i);
            printf("%d\n", work(i));
            if (!keep)
                dlclose(library);
        }
    }
    return 0;
}
