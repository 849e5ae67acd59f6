// What compilers before GCC 4.9 emit: the caller runs the body itself between ..._start and GOMP_parallel_end. Prototypes by hand.
//# Flags: -O1 -fopenmp
//# Flags@sparc-linux: -latomic
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false
//# Expect: parallel_regions[region_body].count = 4
//# Expect: parallel_regions[loop_body].count = 2
//# Expect: parallel_regions[sections_body].count = 1
//# Events: parallel_begin = 4 + 2 + 1
//# Events: parallel_end = 4 + 2 + 1
//# Events: implicit_begin = 3*(4 + 2 + 1)
//# Events: implicit_end = 3*(4 + 2 + 1)
//# Events: chunk_begin = 2*13
//# Events: section_begin = 5
#include <stdbool.h>
#include <stdio.h>

void GOMP_parallel_start(void (*fn)(void *), void *data, unsigned num_threads);
void GOMP_parallel_loop_dynamic_start(void (*fn)(void *), void *data, unsigned num_threads, long start, long end, long incr, long chunk);
void GOMP_parallel_sections_start(void (*fn)(void *), void *data, unsigned num_threads, unsigned count);
void GOMP_parallel_end(void);
bool GOMP_loop_dynamic_next(long *istart, long *iend);
void GOMP_loop_end_nowait(void);
unsigned GOMP_sections_next(void);
void GOMP_sections_end_nowait(void);

void region_body(void *data)
{
    __atomic_fetch_add((int *)data, 1, __ATOMIC_SEQ_CST);
}

void loop_body(void *data)
{
    long begin, end;
    while (GOMP_loop_dynamic_next(&begin, &end))
        for (long i = begin; i < end; i++)
            __atomic_fetch_add((int *)data, (int)i, __ATOMIC_SEQ_CST);
    GOMP_loop_end_nowait();
}

void sections_body(void *data)
{
    for (unsigned section = GOMP_sections_next(); section != 0; section = GOMP_sections_next())
        __atomic_fetch_add((int *)data, 1 << section, __ATOMIC_SEQ_CST);
    GOMP_sections_end_nowait();
}

int main(void)
{
    int regions = 0, loops = 0, sections = 0;
    for (int i = 0; i < 4; i++) {
        GOMP_parallel_start(region_body, &regions, 0);
        region_body(&regions);
        GOMP_parallel_end();
    }
    for (int i = 0; i < 2; i++) {
        GOMP_parallel_loop_dynamic_start(loop_body, &loops, 0, 0, 100, 1, 8);
        loop_body(&loops);
        GOMP_parallel_end();
    }
    GOMP_parallel_sections_start(sections_body, &sections, 0, 5);
    sections_body(&sections);
    GOMP_parallel_end();
    printf("%d %d %d\n", regions, loops, sections);
    return regions == 12 && loops == 2 * 4950 && sections == 62 ? 0 : 1;
}
