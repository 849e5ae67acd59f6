// Samples of a program whose functions take known parts of its processor time, at a known depth of recursion; other threads too.
// How many is bounded loosely: timers end at ticks, which a busy machine shares out unevenly (shares are tested by sampling::shares).
//# Also: aarch64-linux riscv64-linux
//# Flags: -O1 -fno-omit-frame-pointer -pthread
//# Env: INSTR_SAMPLING_PERIOD=1ms
//# Expect: samples.periods >= 100
//# Expect: samples.functions[heavy].periods >= 25
//# Expect: samples.functions[light].periods >= 5
//# Expect: samples.functions[main].periods <= 20
//# Events: sampling >= 1
#define _GNU_SOURCE
#include <instr/instr.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>

static volatile uint64_t sink;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void spin(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        sink += i;
}

/* Until `seconds` of this thread's processor time have gone. */
__attribute__((noinline)) static void heavy(double seconds)
{
    for (const double end = now() + seconds; now() < end;)
        for (uint64_t i = 0; i < 500000; i++)
            sink += i;
}

__attribute__((noinline)) static void light(double seconds)
{
    for (const double end = now() + seconds; now() < end;)
        for (uint64_t i = 0; i < 500000; i++)
            sink ^= i;
}

__attribute__((noinline)) static int recurse(int depth)
{
    if (depth == 0) {
        heavy(0.03);
        return 1;
    }
    const int below = recurse(depth - 1);
    spin(1);
    return below + 1;
}

static void *work(void *arg)
{
    instr_event(2, 2);
    light(0.02);
    return arg;
}

int main(void)
{
    pthread_t thread;
    instr_event(1, 1);
    if (pthread_create(&thread, NULL, work, NULL) != 0)
        return 2;
    for (int i = 0; i < 5; i++) {
        if (recurse(5) != 6)
            return 1;
        light(0.01);
    }
    pthread_join(thread, NULL);
    return 0;
}
