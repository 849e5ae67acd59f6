// Calls of described functions that are left by an exception, by longjmp, by a thread's cancellation, and after recording was switched off.
// Three calls each time, one inside the other; 20 ms pass behind the last one that an exception left.
// Counts: 10 exceptions, 100 jumps, 1 cancellation, 1 stop, 1 return, and two in which inner and leave are called 21 times:
// 115 calls of outer, 155 of the others.
#include <csetjmp>
#include <cstdio>
#include <instr/instr.h>
#include <pthread.h>
#include <unistd.h>

#include "calls.h"

jmp_buf back;

long inner(int how)
{
    return leave(how) + 1;
}

static void *wait_for_ever(void *)
{
    outer(CANCEL);
    return nullptr;
}

int main()
{
    long caught = 0, jumped = 0;
    for (int i = 0; i < 10; i++) {
        try {
            outer(THROW);
        } catch (int value) {
            caught += value;
            usleep(20000);
        }
    }
    for (volatile int i = 0; i < 100; i = i + 1) {
        if (setjmp(back) == 0)
            outer(JUMP);
        else
            jumped = jumped + 1;
    }
    if (setjmp(back) == 0)
        outer(DEEP_JUMP + 20);
    const long deep = outer(DEEP_RETURN + 20);
    pthread_t thread;
    void *result;
    pthread_create(&thread, nullptr, wait_for_ever, nullptr);
    usleep(20000);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    const long stopped = outer(STOP);
    instr_start(nullptr);
    printf("%ld %ld %ld %d %ld %ld\n", caught, jumped, deep, result == PTHREAD_CANCELED, stopped, outer(RETURN));
    return 0;
}
