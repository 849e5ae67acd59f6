// C++: a threadprivate object with a constructor is made on each thread that uses it.
//# Construct: threadprivate, copyin
//# Events: parallel_begin = 2
//# Events: implicit_begin = 2*3
#include <cstdio>

static int made;

struct Mine {
    int value;
    Mine() : value(7)
    {
#pragma omp atomic
        made++;
    }
};
extern Mine mine;
#pragma omp threadprivate(mine)
Mine mine;

int main()
{
    int sum = 0;
#pragma omp parallel
    mine.value++;
#pragma omp parallel
    {
#pragma omp atomic
        sum += mine.value;
    }
    std::printf("%d %d\n", sum, made);
    return !(sum == 24 && made == 3);
}
