// Ways out of constructs: exceptions that are caught inside regions, tasks and sections, with their destructors; cancellation, where the
// setting (OMP_CANCELLATION) decides what happens.
//
//# Flags: -O1 -fopenmp
//# Flags@sparc-linux: -latomic
//# Env: OMP_NUM_THREADS=3 OMP_DYNAMIC=false OMP_CANCELLATION=true
#include <cstdio>
#include <omp.h>
#include <stdexcept>
#include <string>

static long alive, caught;

struct counted {
    std::string text;
    explicit counted(int i) : text("a text that is too long to be kept inside " + std::to_string(i)) { change(1); }
    counted(const counted &other) : text(other.text) { change(1); }
    counted &operator=(const counted &) = delete;
    ~counted() { change(-1); }
    static void change(long by)
    {
#pragma omp atomic
        alive += by;
    }
};

static void deep(int depth, const counted &what)
{
    counted copy(what);
    if (depth == 0)
        throw std::runtime_error(copy.text);
    deep(depth - 1, copy);
}

static void attempt(int depth, const counted &what)
{
    try {
        deep(depth, what);
    } catch (const std::runtime_error &error) {
#pragma omp atomic
        caught += error.what() == what.text;
    }
}

static void exceptions()
{
#pragma omp parallel
    {
        counted mine(omp_get_thread_num());
        attempt(3, mine);
#pragma omp barrier
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 30; i++)
            attempt(i % 5, mine);
#pragma omp sections
        {
#pragma omp section
            attempt(2, mine);
#pragma omp section
            attempt(1, mine);
        }
#pragma omp critical
        attempt(0, mine);
#pragma omp single
        for (int i = 0; i < 50; i++) {
            counted data(i);
#pragma omp task firstprivate(data)
            {
                counted inner(data);
                attempt(4, inner);
#pragma omp task firstprivate(inner) if (0)
                attempt(1, inner);
            }
        }
    }
}

static void cancellation()
{
    int before = 0, after = 0, tasks = 0, loop = 0, sections = 0;
#pragma omp parallel num_threads(1)
    {
        before++;
#pragma omp cancel parallel
        after++;
    }
#pragma omp parallel num_threads(1)
    {
#pragma omp for
        for (int i = 0; i < 10; i++) {
            loop++;
            if (i == 4) {
#pragma omp cancel for
            }
        }
#pragma omp sections
        {
#pragma omp section
            {
                sections++;
#pragma omp cancel sections
                sections += 10;
            }
#pragma omp section
            sections += 100;
        }
#pragma omp taskgroup
        {
            for (int i = 0; i < 10; i++) {
#pragma omp task shared(tasks) if (0)
                {
                    tasks++;
                    if (i == 6) {
#pragma omp cancel taskgroup
                        tasks += 100;
                    }
                }
            }
        }
    }
    std::printf("cancellation %d: parallel %d %d, for %d, sections %d, tasks %d\n", omp_get_cancellation(), before, after, loop, sections,
                tasks);
}

/* Several threads: whoever sees the cancellation leaves; everybody meets at the end. */
static void cancelled_by_one()
{
    int left = 0, threads = 0;
#pragma omp parallel
    {
#pragma omp single
        threads = omp_get_num_threads();
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < 100000; i++) {
            if (i == 10) {
#pragma omp cancel for
            }
#pragma omp cancellation point for
        }
#pragma omp atomic
        left++;
    }
    std::printf("met %d\n", left == threads);
}

int main()
{
    exceptions();
    std::printf("alive %ld, caught as thrown %d\n", alive, caught > 100);
    cancellation();
    cancelled_by_one();
    return 0;
}
