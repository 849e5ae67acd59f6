// Two threads load the library that is named, call it and unload it, 20 times each.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *work(void *path)
{
    long all = 0;
    for (int i = 0; i < 20; i++) {
        void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (library == NULL) {
            puts(dlerror());
            exit(1);
        }
        long (*sum)(long);
        *(void **)&sum = dlsym(library, "sum");
        all += sum(10);
        dlclose(library);
    }
    return (void *)all;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    long all = 0;
    (void)argc;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, argv[1]);
    for (int i = 0; i < 2; i++) {
        void *of;
        pthread_join(threads[i], &of);
        all += (long)of;
    }
    printf("%ld\n", all);
    return 0;
}
