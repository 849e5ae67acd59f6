// usage: intruder FOLDER header|all
// Records 1 to 20000 in the initial thread and 1 to 1000 in three threads one after the other, while all bytes of the header page, or of
// the whole window, are overwritten through another mapping of its file, as a process that can write the trace's folder might do it.
// Whatever stands there, the program's own memory must stay as it is.
#include <fcntl.h>
#include <instr/instr.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORDS 65536u
static uintptr_t target[WORDS];

struct view {
    uintptr_t *words;
    size_t count;
};

static struct view view_of(const char *folder, const char *name)
{
    char path[4096];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_RDWR);
    if (fd < 0 || fstat(fd, &status) != 0)
        return (struct view){NULL, 0}; // there is no trace
    void *words = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return (struct view){words == MAP_FAILED ? NULL : words, (size_t)status.st_size / sizeof(uintptr_t)};
}

// Where the cursor, its limit or a list's next entry was, there is now an address in `target`, or a number that makes no sense.
static void overwrite(struct view view, int all, unsigned round)
{
    uintptr_t values[4] = {(uintptr_t)&target[WORDS / 2], (uintptr_t)target, 0, UINTPTR_MAX};
    size_t count = all ? view.count : 4096 / sizeof(uintptr_t);
    for (size_t i = 0; view.words != NULL && i < count; i++)
        view.words[i] = values[(round + i / 64) % 4];
}

static void *record(void *arg)
{
    (void)arg;
    for (unsigned i = 1; i <= 1000; i++)
        instr_event(671, i);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    int all = strcmp(argv[2], "all") == 0;
    instr_event(672, 1);
    struct view first = view_of(argv[1], ".window_0000");
    for (unsigned i = 1; i <= 20000; i++) {
        if (i % 50 == 0)
            overwrite(first, all, i / 50);
        instr_region_begin("overwritten");
        instr_event(670, i);
        instr_region_end();
    }
    for (unsigned i = 0; i < 3; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, record, NULL) != 0 || pthread_join(thread, NULL) != 0)
            return 3;
        overwrite(view_of(argv[1], ".window_0001"), all, i); // of an ended thread, for the next one
        overwrite(first, all, i);
    }
    size_t changed = 0;
    for (size_t i = 0; i < WORDS; i++)
        changed += target[i] != 0;
    printf("%zu words changed\n", changed);
    return changed != 0;
}
