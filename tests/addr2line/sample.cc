// Templates, lambdas, exceptions and a nested namespace: mangled names, .cold parts, deep inlining.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace shape {
namespace {
struct Broken {};
int checked(int x)
{
    if (x > 100) throw Broken();
    return x;
}
} // namespace

template <class T> struct Stack {
    std::vector<T> items;
    T sum() const
    {
        T all{};
        for (const auto &item : items) all += item;
        return all;
    }
    ~Stack() { std::puts("gone"); }
};
} // namespace shape

static int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

int main(int count, char **words)
{
    shape::Stack<double> stack;
    std::string text(words[0]);
    for (int i = 0; i < count * 10; i++) stack.items.push_back(i);
    std::sort(stack.items.begin(), stack.items.end(), [](double a, double b) { return a > b; });
    double all = 0;
#pragma omp parallel for reduction(+ : all)
    for (int i = 0; i < 10; i++) all += stack.sum() + factorial(i);
    try {
        shape::checked(count);
    } catch (shape::Broken &) {
        return 2;
    }
    return std::printf("%g %zu\n", all, text.size()) < 0;
}
