// C++: firstprivate objects with copy constructors and destructors in tasks (deferred and not) and in a taskloop; as many objects die as were made.
// 6 deferred, 2 with a false if clause, 3 of a taskloop.
//# Construct: data of tasks
//# Env: OMP_NUM_THREADS=2
//# SkipCompiler: gcc-libomp libomp 14 destroys GCC's copies in a taskloop once too often, also without us
//# Events: task_create + taskloop_task = 6 + 2 + 3
//# Events: task_begin = 6 + 2 + 3
//# Events: taskloop_begin = 1
//# Edges: 0
#include <cstdio>

static int made, gone, sum;

static void change(int &counter, int by)
{
#pragma omp atomic
    counter += by;
}

struct Counted {
    int value;
    explicit Counted(int v) : value(v) { change(made, 1); }
    Counted(const Counted &other) : value(other.value + 1) { change(made, 1); }
    ~Counted() { change(gone, 1); }
};

int main()
{
    bool off = false;
#pragma omp parallel
#pragma omp single
    {
        Counted object(1);
        for (int i = 0; i < 6; i++) {
#pragma omp task firstprivate(object)
            change(sum, object.value > 1);
        }
        for (int i = 0; i < 2; i++) {
#pragma omp task firstprivate(object) if (off)
            change(sum, object.value > 1);
        }
#pragma omp taskloop firstprivate(object) num_tasks(3)
        for (int i = 0; i < 3; i++)
            change(sum, object.value > 1);
    }
    std::printf("%d %d\n", sum, made - gone);
    return !(sum == 11 && made == gone);
}
