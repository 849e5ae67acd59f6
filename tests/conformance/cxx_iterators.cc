// C++: loops over random access iterators and over ranges; members and lambdas as bodies. 48 elements dynamic in chunks of 5: 10 chunks; 48 static.
//# Construct: loops over C++ iterators
//# Unseen@libomp: libomp 14 has no callback for the chunks of a loop (15 and later have): the loop shows, its chunks do not
//# Unseen@gcc: GCC 16 and before compile static loops inline: inferred from the pair of getters with which each begins; its end does not show
//# Unseen@gcc-libomp: GCC compiles static loops inline, and libomp reports no calls of getters: nothing shows
//# Flags@clang: -fopenmp-version=50
//# Events: parallel_begin = 2
//# Events@libgomp: chunk_begin = 10
//# Events@libgomp: loop_begin = 3
//# Events@gcc: static_loop = 3
//# Events@clang: static_loop = 0
//# Events@clang: loop_begin = 2*3
#include <cstdio>
#include <vector>

struct Sum {
    long total = 0;
    void over(std::vector<int> &v)
    {
        long sum = 0;
#pragma omp parallel for schedule(dynamic, 5) reduction(+ : sum)
        for (auto it = v.begin(); it < v.end(); ++it)
            sum += *it;
        total += sum;
    }
};

int main()
{
    std::vector<int> v(48, 2);
    Sum sum;
    sum.over(v);
    auto twice = [&] {
#pragma omp parallel for
        for (int &x : v)
            x *= 2;
    };
    twice();
    long after = 0;
    for (int x : v)
        after += x;
    std::printf("%ld %ld\n", sum.total, after);
    return !(sum.total == 96 && after == 192);
}
