// Task data with copy constructors: the compiler passes a copy function, which must run as often, and as early, as without us.
//# Flags: -O1 -fopenmp
//# Flags@sparc-linux: -latomic
//# Env: OMP_NUM_THREADS=2 OMP_DYNAMIC=false
//# Expect: tasks.created = 8 + 5
//# Expect: tasks.executed = 8 + 5
//# Expect: tasks.undeferred = 5
//# Events: task_begin = 8 + 5
#include <atomic>
#include <cstdio>

static std::atomic<int> copies{0}, deaths{0}, sum{0};

struct Counted {
    int value;
    alignas(32) int self_check;
    explicit Counted(int v) : value(v), self_check(v * 7) {}
    Counted(const Counted &other) : value(other.value), self_check(other.self_check) { copies++; }
    ~Counted() { deaths++; }
};

static void use(const Counted &counted)
{
    if (counted.self_check == counted.value * 7 && reinterpret_cast<unsigned long>(&counted) % 32 == 0)
        sum += counted.value;
}

int main()
{
#pragma omp parallel
#pragma omp single
    {
        for (int i = 1; i <= 8; i++) {
            Counted counted(i);
#pragma omp task firstprivate(counted)
            use(counted);
        }
        for (int i = 1; i <= 5; i++) {
            Counted counted(100 * i);
#pragma omp task firstprivate(counted) if (0)
            use(counted);
        }
    }
    std::printf("%d copies, %d deaths, sum %d\n", copies.load(), deaths.load(), sum.load());
    return sum == 36 + 1500 ? 0 : 1;
}
