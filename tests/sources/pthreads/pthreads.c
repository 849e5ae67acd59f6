// Threads that OpenMP knows nothing of: each has its stream, from its first event.
//# Also: aarch64-linux riscv64-linux
//# Flags: -O1 -pthread
//# Expect: threads.len = 1 + 4
//# Expect: threads[*].discarded = 0
//# Events: user_event = 10 + 4*25
//# Events: thread_begin = 1 + 4
//# Events: thread_end = 1 + 4
#include <instr/instr.h>
#include <pthread.h>
#include <stdio.h>

static void *work(void *argument)
{
    for (int i = 1; i <= 25; i++)
        instr_event(100, (unsigned)i);
    return argument;
}

int main(void)
{
    pthread_t threads[4];
    int joined = 0;
    for (int i = 1; i <= 10; i++)
        instr_event(99, (unsigned)i);
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 1;
    for (int i = 0; i < 4; i++)
        joined += pthread_join(threads[i], NULL) == 0;
    printf("%d\n", joined);
    return joined == 4 ? 0 : 1;
}
