// usage: loader LIBRARY [close]
// Loads a library, calls it, and perhaps unloads it before it goes on.
#include <dlfcn.h>
#include <instr/instr.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    // libgomp's own threads run in it for a while after a region: unloaded with the library that needed it, it makes any program crash now and then.
    if (argc > 2 && dlopen("libgomp.so.1", RTLD_NOW | RTLD_NODELETE) == NULL)
        return 3;
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library == NULL) {
        printf("not loaded\n");
        return 1;
    }
    int (*work)(int);
    *(void **)&work = dlsym(library, "plugin_work");
    if (work == NULL)
        return 2;
    instr_event(901, 1);
    printf("%d\n", work(5));
    if (argc > 2 && strcmp(argv[2], "close") == 0)
        printf("closed %d\n", dlclose(library));
    instr_event(901, 2);
    return 0;
}
