// No slot is overwritten, several are filled. A thread takes over the ring of one that has ended: nothing of the earlier thread comes out of it.
//# Flags: -O1 -fopenmp
//# Env: INSTR_POLICY=ring INSTR_BUFFER=16384
//# Events: user_event{type=2} = 3
//# Events: user_event{type=1} = 400
//# Expect: truncated_streams = 0
#include <instr/instr.h>
#include <pthread.h>
#include <stdio.h>

static void *many(void *arg)
{
    for (unsigned i = 0; i < 400; i++)
        instr_event(1, i);
    return arg;
}

static void *few(void *arg)
{
    for (unsigned i = 0; i < 3; i++)
        instr_event(2, i);
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, many, NULL);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, few, NULL);
    pthread_join(thread, NULL);
#pragma omp parallel num_threads(1)
    puts("done");
    return 0;
}
