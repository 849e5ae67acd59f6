/* Every kind of OpenMP construct that makes gcc and clang call libgomp, with a result that does not depend on timing. */
#include <omp.h>
#include <stdio.h>

enum { COUNT = 200 };

static long loops(void)
{
    long sum = 0;
    int count = COUNT;
    unsigned long long start = 1, end = 100;
#pragma omp parallel num_threads(3) reduction(+ : sum)
    {
#pragma omp for schedule(dynamic, 7)
        for (int i = 0; i < count; i++)
            sum += i;
#pragma omp for schedule(guided) nowait
        for (int i = 0; i < count; i++)
            sum += 2 * i;
#pragma omp for schedule(runtime)
        for (unsigned long long i = start; i < end; i += 2)
            sum += (long)i;
#pragma omp for ordered schedule(dynamic)
        for (int i = 0; i < count; i++) {
#pragma omp ordered
            sum += i;
        }
    }
#pragma omp parallel for schedule(dynamic, 3) num_threads(2)
    for (int i = 0; i < 50; i++) {
#pragma omp atomic
        sum += i;
    }
    return sum;
}

static long exclusion(void)
{
    long a = 0, b = 0, c = 0;
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(3)
    {
#pragma omp critical
        a++;
#pragma omp critical(named)
        b++;
        omp_set_lock(&lock);
        c++;
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
#pragma omp barrier
#pragma omp single
        a += 10;
#pragma omp sections
        {
#pragma omp section
#pragma omp critical
            a += 100;
#pragma omp section
#pragma omp critical
            a += 100;
        }
    }
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    return a + 1000 * b + 100000 * c;
}

static long fibonacci(int n)
{
    long a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a) if (n > 4)
    a = fibonacci(n - 1);
#pragma omp task shared(b) if (n > 4)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

static long tasks(void)
{
    long result = 0, chain = 0, sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        result = fibonacci(10);
        for (int i = 0; i < 20; i++) {
#pragma omp task depend(inout : chain) shared(chain) firstprivate(i)
            chain = chain * 3 % 1000 + i;
        }
#pragma omp taskwait
#pragma omp taskgroup
        {
#pragma omp taskloop shared(sum)
            for (int i = 0; i < 30; i++) {
#pragma omp atomic
                sum += i;
            }
#pragma omp taskyield
        }
    }
    return result + 1000 * chain + 1000000 * sum;
}

int main(void)
{
    printf("%ld\n%ld\n%ld\n", loops(), exclusion(), tasks());
    return 0;
}
