// Templates and inline functions: everything that calls libgomp sits in section groups (COMDAT).
#include <cstdio>
#include <vector>

template <typename T>
T total(const std::vector<T> &values)
{
    T sum = 0;
#pragma omp parallel for schedule(dynamic, 5) num_threads(2) reduction(+ : sum)
    for (long i = 0; i < static_cast<long>(values.size()); i++)
        sum += values[i];
    return sum;
}

inline int guarded(int value)
{
    static int last = value + 1;
    try {
#pragma omp critical(guard)
        last += value;
        if (last == 12345)
            throw last;
    } catch (int) {
        return -1;
    }
    return last;
}

int main()
{
    std::vector<int> ints(100, 3);
    std::vector<double> doubles(100, 0.5);
    std::printf("%d %g %d\n", total(ints), total(doubles), guarded(4));
}
