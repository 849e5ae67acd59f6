// Entry points that other releases of GCC use for the same constructs, called by hand in a region of 3 threads.
// GCC <= 8: static 30/10: 3 chunks; dynamic 30/7: 5; guided 100, at least 10: 6; runtime (dynamic,20) 100: 5; ordered static 12/4: 3;
// GCC >= 9: loop_start dynamic 30/8: 4; ull 30/9: 4; ordered_start guided 100, at least 10: 6; sections2_start: 4 sections.
// 4.9's one-call forms: parallel_loop_static 30/10: 3; dynamic 30/7: 5; guided: 6; runtime 100/20: 5.
//# Construct: other entry points of GCC 4 to 16
//# SkipCompiler: clang the calls are written by hand: clang makes the same objects as GCC
//# SkipCompiler: gcc-libomp libomp shares these loops out in its own way: the sums of the program hold, its chunks do not show
//# Env: OMP_SCHEDULE=dynamic,20
//# Events: parallel_begin = 1 + 4
//# Events: implicit_begin = 3*(1 + 4)
//# Events: loop_begin = 3*(5 + 3 + 4)
//# Events: chunk_begin = 3 + 5 + 6 + 5 + 3 + 4 + 4 + 6 + 3 + 5 + 6 + 5
//# Events: sections_begin = 3
//# Events: section_begin = 4
//# Events: work_end = 3*(5 + 3 + 4 + 1)
//# Events: mutex_acquired{kind=4} = 3 + 6
//# Redirect
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef unsigned long long ull;
typedef void body(void *);
void GOMP_parallel(body *, void *, unsigned, unsigned);
void GOMP_parallel_loop_static(body *, void *, unsigned, long, long, long, long, unsigned);
void GOMP_parallel_loop_dynamic(body *, void *, unsigned, long, long, long, long, unsigned);
void GOMP_parallel_loop_guided(body *, void *, unsigned, long, long, long, long, unsigned);
void GOMP_parallel_loop_runtime(body *, void *, unsigned, long, long, long, unsigned);
bool GOMP_loop_static_start(long, long, long, long, long *, long *);
bool GOMP_loop_dynamic_start(long, long, long, long, long *, long *);
bool GOMP_loop_guided_start(long, long, long, long, long *, long *);
bool GOMP_loop_runtime_start(long, long, long, long *, long *);
bool GOMP_loop_ordered_static_start(long, long, long, long, long *, long *);
bool GOMP_loop_start(long, long, long, long, long, long *, long *, uintptr_t *, void **);
bool GOMP_loop_ordered_start(long, long, long, long, long, long *, long *, uintptr_t *, void **);
bool GOMP_loop_ull_start(bool, ull, ull, ull, long, ull, ull *, ull *, uintptr_t *, void **);
bool GOMP_loop_static_next(long *, long *);
bool GOMP_loop_dynamic_next(long *, long *);
bool GOMP_loop_guided_next(long *, long *);
bool GOMP_loop_runtime_next(long *, long *);
bool GOMP_loop_ordered_static_next(long *, long *);
bool GOMP_loop_ordered_guided_next(long *, long *);
bool GOMP_loop_ull_dynamic_next(ull *, ull *);
void GOMP_loop_end(void);
void GOMP_loop_end_nowait(void);
void GOMP_ordered_start(void);
void GOMP_ordered_end(void);
unsigned GOMP_sections2_start(unsigned, uintptr_t *, void **);
unsigned GOMP_sections_next(void);
void GOMP_sections_end(void);

static long sum;

static void add(long begin, long end)
{
    for (long i = begin; i < end; i++)
        __atomic_fetch_add(&sum, i, __ATOMIC_SEQ_CST);
}

static void add_ordered(long begin, long end)
{
    GOMP_ordered_start();
    add(begin, end);
    GOMP_ordered_end();
}

#define ALL(start, next, work)               \
    do {                                     \
        if (start)                           \
            do                               \
                work((long)b, (long)e);      \
            while (next(&b, &e));            \
        GOMP_loop_end();                     \
    } while (0)

static void separate(void *data)
{
    (void)data;
    long b, e;
    ALL(GOMP_loop_static_start(0, 30, 1, 10, &b, &e), GOMP_loop_static_next, add);
    ALL(GOMP_loop_dynamic_start(0, 30, 1, 7, &b, &e), GOMP_loop_dynamic_next, add);
    ALL(GOMP_loop_guided_start(0, 100, 1, 10, &b, &e), GOMP_loop_guided_next, add);
    ALL(GOMP_loop_runtime_start(0, 100, 1, &b, &e), GOMP_loop_runtime_next, add);
    ALL(GOMP_loop_ordered_static_start(0, 12, 1, 4, &b, &e), GOMP_loop_ordered_static_next, add_ordered);
    ALL(GOMP_loop_start(0, 30, 1, 2, 8, &b, &e, NULL, NULL), GOMP_loop_dynamic_next, add);
    ALL(GOMP_loop_ordered_start(0, 100, 1, 3, 10, &b, &e, NULL, NULL), GOMP_loop_ordered_guided_next, add_ordered);
    {
        ull b, e;
        ALL(GOMP_loop_ull_start(true, 0, 30, 1, 2, 9, &b, &e, NULL, NULL), GOMP_loop_ull_dynamic_next, add);
    }
    for (unsigned section = GOMP_sections2_start(4, NULL, NULL); section != 0; section = GOMP_sections_next())
        add(section, (long)section + 1);
    GOMP_sections_end();
}

#define COMBINED(kind)                          \
    static void kind##_body(void *data)         \
    {                                           \
        long b, e;                              \
        (void)data;                             \
        while (GOMP_loop_##kind##_next(&b, &e)) \
            add(b, e);                          \
        GOMP_loop_end_nowait();                 \
    }
COMBINED(static)
COMBINED(dynamic)
COMBINED(guided)
COMBINED(runtime)

int main(void)
{
    GOMP_parallel(separate, NULL, 0, 0);
    GOMP_parallel_loop_static(static_body, NULL, 0, 0, 30, 1, 10, 0);
    GOMP_parallel_loop_dynamic(dynamic_body, NULL, 0, 0, 30, 1, 7, 0);
    GOMP_parallel_loop_guided(guided_body, NULL, 0, 0, 100, 1, 10, 0);
    GOMP_parallel_loop_runtime(runtime_body, NULL, 0, 0, 100, 1, 0);
    printf("%ld\n", sum);
    return sum != 6 * 435 + 5 * 4950 + 66 + 10;
}
