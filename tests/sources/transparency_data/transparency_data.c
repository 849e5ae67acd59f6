// Data of tasks: each body finds its copy at a multiple of its alignment and unchanged, from one byte to far more than a probe copies itself.
//
//# Flags: -O1 -fopenmp
//# Flags@sparc-linux: -latomic
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false
//# Expect: tasks.created = 6*20 + 1 + 4
//# Expect: tasks.executed = 6*20 + 1 + 4
#include <errno.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct one { unsigned char byte[1]; };
struct line { _Alignas(64) unsigned char byte[64]; };
struct wide { _Alignas(128) unsigned char byte[128]; };
struct page { _Alignas(256) unsigned char byte[1024]; };
struct large { unsigned char byte[5000]; };
struct huge { _Alignas(32) unsigned char byte[40000]; };

static long wrong;

/* Filled so that a byte tells its task and its place. */
static void fill(unsigned char *p, size_t n, int task)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)(i * 13 + (size_t)task);
}

static void check(const unsigned char *p, size_t n, size_t align, int task)
{
#ifdef __clang__
    align = align < 16 ? align : 16; /* clang 14 does not ask for more, whatever the type says */
#endif
    long bad = (uintptr_t)p % align != 0;
    for (size_t i = 0; i < n; i++)
        bad += p[i] != (unsigned char)(i * 13 + (size_t)task);
    if (bad) {
#pragma omp atomic
        wrong += bad;
    }
}

#define MANY(type)                                                 \
    for (int i = 0; i < 20; i++) {                                 \
        struct type data;                                          \
        fill(data.byte, sizeof data, i);                           \
        if (i % 4 == 3) {                                          \
            _Pragma("omp task firstprivate(data, i) if(0)")        \
            check(data.byte, sizeof data, _Alignof(struct type), i); \
        } else {                                                   \
            _Pragma("omp task firstprivate(data, i)")              \
            check(data.byte, sizeof data, _Alignof(struct type), i); \
        }                                                          \
        memset(&data, 0, sizeof data);                             \
    }

int main(void)
{
    int errors = 0;
    long sum = 0;
#pragma omp parallel reduction(+ : errors)
    {
        errno = ERANGE;
#pragma omp single
        {
            MANY(one)
            MANY(line)
            MANY(wide)
            MANY(page)
            MANY(large)
            MANY(huge)
            struct huge data;
            fill(data.byte, sizeof data, 77);
#pragma omp task firstprivate(data)
            check(data.byte, sizeof data, 32, 77);
            struct wide part;
            fill(part.byte, sizeof part, 5);
#pragma omp taskloop num_tasks(4) firstprivate(part) reduction(+ : sum)
            for (int i = 0; i < 100; i++) {
                check(part.byte, sizeof part, 1, 5);
                sum += i;
            }
        }
        errors += errno != ERANGE;
    }
    printf("wrong %ld, sum %ld, errno changed %d %d\n", wrong, sum, errors, errno != ERANGE);
    return 0;
}
