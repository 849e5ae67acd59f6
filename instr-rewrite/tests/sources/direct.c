/* References of every sort, for compilers that do not translate OpenMP into calls of libgomp by themselves. */
extern void GOMP_barrier(void);
extern void GOMP_critical_start(void);
extern void GOMP_critical_end(void);
extern void GOMP_taskwait(void);
extern void omp_set_lock(void *);
extern void omp_destroy_lock(void *);
extern void GOMP_taskyield(void) __attribute__((__weak__));
extern void GOMP_from_the_future(void);
extern int elsewhere(int);

void (*const table[])(void) = { GOMP_barrier, GOMP_critical_start };

int called(int value)
{
    GOMP_critical_start();
    value += elsewhere(value);
    GOMP_critical_end();
    if (GOMP_taskyield)
        GOMP_taskyield();
    omp_set_lock(&value);
    omp_destroy_lock(&value);
    return value;
}

void tail_call(void)
{
    GOMP_taskwait();
}

void future(void)
{
    GOMP_from_the_future();
}
