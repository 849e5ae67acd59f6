// C++: a declared reduction of a class, in a loop (static) and over tasks. 4 tasks.
//# Construct: declare reduction
//# Events: parallel_begin = 2
//# Events: task_create = 4
//# Events: task_begin = 4
//# Events: taskgroup_begin = 1
//# Events@gcc: static_loop = 3
//# Events@clang: loop_begin = 3
//# Events@clang: static_loop = 0
//# Unseen@gcc: GCC 16 and before compile static loops inline: inferred from the pair of getters with which each begins; its end does not show
//# Unseen@gcc-libomp: GCC compiles static loops inline, and libomp reports no calls of getters: nothing shows
#include <cstdio>

struct Point {
    int x, y;
    Point(int a = 0, int b = 0) : x(a), y(b) {}
    Point &operator+=(const Point &o)
    {
        x += o.x;
        y += o.y;
        return *this;
    }
};
#pragma omp declare reduction(+ : Point : omp_out += omp_in)

int main()
{
    Point loop, group;
#pragma omp parallel for reduction(+ : loop)
    for (int i = 0; i < 30; i++)
        loop += Point(i, 1);
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup task_reduction(+ : group)
        for (int i = 0; i < 4; i++) {
#pragma omp task in_reduction(+ : group) firstprivate(i)
            group += Point(i, 1);
        }
    }
    std::printf("%d %d %d %d\n", loop.x, loop.y, group.x, group.y);
    return !(loop.x == 435 && loop.y == 30 && group.x == 6 && group.y == 4);
}
