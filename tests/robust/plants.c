// usage: plants FOLDER KIND VICTIM
// Puts something in the way of its second thread's files in FOLDER, as another process might, and has that thread record 1 to 5000.
#include <instr/instr.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void *record(void *arg)
{
    for (unsigned i = 1; i <= 5000; i++)
        instr_event(660, i);
    return arg;
}

int main(int argc, char **argv)
{
    char window[4096];
    char stream[4096];
    int status = 0;
    pthread_t thread;
    if (argc != 4)
        return 2;
    instr_event(661, 1);
    snprintf(window, sizeof window, "%s/.window_0001", argv[1]);
    snprintf(stream, sizeof stream, "%s/thread_0001", argv[1]);
    if (strcmp(argv[2], "symbolic-link") == 0)
        status = symlink(argv[3], window);
    else if (strcmp(argv[2], "hard-link") == 0)
        status = link(argv[3], window);
    else if (strcmp(argv[2], "pipe") == 0)
        status = mkfifo(window, 0666);
    else if (strcmp(argv[2], "folder") == 0)
        status = mkdir(window, 0777);
    else if (strcmp(argv[2], "pipe-as-stream") == 0)
        status = mkfifo(stream, 0666);
    else
        return 2;
    if (status != 0 && access(argv[1], F_OK) == 0) // without a trace there is no folder
        return 3;
    if (pthread_create(&thread, NULL, record, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return 4;
    puts("recorded");
    return 0;
}
