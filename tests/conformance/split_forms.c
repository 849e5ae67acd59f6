// What GCC before 4.9 emits: the caller runs the body itself between ..._start and GOMP_parallel_end. Prototypes by hand.
// 2 plain regions; dynamic 100/8: 13 chunks; static 90/10: 9; guided 100, at least 10: 6; runtime (dynamic,20): 5; sections: 5.
//# Construct: GCC before 4.9: `_start`, `_end`
//# SkipCompiler: clang the calls are written by hand: clang makes the same objects as GCC
//# Unseen@gcc-libomp: libomp 14 has no callback for the chunks of a loop (15 and later have): the loop shows, its chunks do not
//# Unseen@gcc-libomp: libomp reports the construct, not which section a thread runs; it runs the sections of GCC's objects as a dynamic loop and reports that
//# Env: OMP_SCHEDULE=dynamic,20
//# Events: parallel_begin = 2 + 4 + 1
//# Events: parallel_end = 2 + 4 + 1
//# Events: implicit_begin = 3*(2 + 4 + 1)
//# Events: implicit_end = 3*(2 + 4 + 1)
//# Events@gcc: loop_begin = 4*3
//# Events@gcc-libomp: loop_begin + sections_begin = 4*3 + 3
//# Events@gcc: chunk_begin = 13 + 9 + 6 + 5
//# Events@gcc: sections_begin = 3
//# Events@gcc: section_begin = 5
//# Events: work_end = 5*3
//# Redirect
#include <stdbool.h>
#include <stdio.h>

typedef void body(void *);
void GOMP_parallel_start(body *, void *, unsigned);
void GOMP_parallel_loop_static_start(body *, void *, unsigned, long, long, long, long);
void GOMP_parallel_loop_dynamic_start(body *, void *, unsigned, long, long, long, long);
void GOMP_parallel_loop_guided_start(body *, void *, unsigned, long, long, long, long);
void GOMP_parallel_loop_runtime_start(body *, void *, unsigned, long, long, long);
void GOMP_parallel_sections_start(body *, void *, unsigned, unsigned);
void GOMP_parallel_end(void);
bool GOMP_loop_static_next(long *, long *);
bool GOMP_loop_dynamic_next(long *, long *);
bool GOMP_loop_guided_next(long *, long *);
bool GOMP_loop_runtime_next(long *, long *);
void GOMP_loop_end_nowait(void);
unsigned GOMP_sections_next(void);
void GOMP_sections_end_nowait(void);

static void region(void *data)
{
    __atomic_fetch_add((int *)data, 1, __ATOMIC_SEQ_CST);
}

#define LOOP(kind)                                                         \
    static void kind##_loop(void *data)                                    \
    {                                                                      \
        long begin, end;                                                   \
        while (GOMP_loop_##kind##_next(&begin, &end))                      \
            for (long i = begin; i < end; i++)                             \
                __atomic_fetch_add((int *)data, (int)i, __ATOMIC_SEQ_CST); \
        GOMP_loop_end_nowait();                                            \
    }
LOOP(static)
LOOP(dynamic)
LOOP(guided)
LOOP(runtime)

static void sections(void *data)
{
    for (unsigned section = GOMP_sections_next(); section != 0; section = GOMP_sections_next())
        __atomic_fetch_add((int *)data, 1 << section, __ATOMIC_SEQ_CST);
    GOMP_sections_end_nowait();
}

int main(void)
{
    int regions = 0, loops = 0, blocks = 0;
    for (int i = 0; i < 2; i++) {
        GOMP_parallel_start(region, &regions, 0);
        region(&regions);
        GOMP_parallel_end();
    }
    GOMP_parallel_loop_dynamic_start(dynamic_loop, &loops, 0, 0, 100, 1, 8);
    dynamic_loop(&loops);
    GOMP_parallel_end();
    GOMP_parallel_loop_static_start(static_loop, &loops, 0, 0, 90, 1, 10);
    static_loop(&loops);
    GOMP_parallel_end();
    GOMP_parallel_loop_guided_start(guided_loop, &loops, 0, 0, 100, 1, 10);
    guided_loop(&loops);
    GOMP_parallel_end();
    GOMP_parallel_loop_runtime_start(runtime_loop, &loops, 0, 0, 100, 1);
    runtime_loop(&loops);
    GOMP_parallel_end();
    GOMP_parallel_sections_start(sections, &blocks, 0, 5);
    sections(&blocks);
    GOMP_parallel_end();
    printf("%d %d %d\n", regions, loops, blocks);
    return !(regions == 6 && loops == 3 * 4950 + 4005 && blocks == 62);
}
