
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

volatile int sink;
static inline __attribute__((always_inline)) int leaf(int x) {
  sink = x;
  return x * 3 + sink;
}
static inline __attribute__((always_inline)) int mid(int x) {
  int y = leaf(x);
  return y + leaf(y + 1);
}
static __attribute__((noinline)) int cloned(int x, int unused) {
  (void)unused;
  for (int i = 0; i < 3; i++)
    sink += x;
  return mid(x);
}
static int work(int x) {
  int s = 0;
  for (int i = 0; i < x; i++)
    s += i * rand();
  return s;
}
static __attribute__((cold, noinline)) void complain(const char *what, int n) {
  fprintf(stderr, "%s: %d\n", what, n);
  if (n > 7)
    abort();
}
int choose(int n) {
  switch (n) {
  case 0: return mid(n);
  case 1: return leaf(n) * 2;
  case 2: return cloned(n, 7);
  case 3: return work(n);
  case 4: return mid(n) - leaf(n);
  case 5: complain("five", n); return 0;
  default: return n;
  }
}
int loops(int n) {
  int sum = 0, k = n * 3;
#pragma omp parallel for reduction(+ : sum) firstprivate(k) schedule(dynamic)
  for (int i = 0; i < n; i++)
    sum += work(i) + mid(k);
#pragma omp parallel sections reduction(+ : sum)
  {
#pragma omp section
    sum += choose(n);
#pragma omp section
    sum += cloned(n, 7);
  }
  return sum;
}
int tasks(int n) {
  int a = 0, b = 0;
#pragma omp parallel shared(a, b)
  {
#pragma omp single
    {
#pragma omp task depend(out : a) shared(a) firstprivate(n)
      a = work(n);
#pragma omp task depend(in : a) shared(a, b)
      { b = mid(a); printf("%d\n", b); }
#pragma omp taskloop shared(b)
      for (int i = 0; i < n; i++)
#pragma omp atomic
        b += leaf(i);
    }
#pragma omp critical(account)
    a += work(b);
#pragma omp barrier
#pragma omp for ordered
    for (int i = 0; i < n; i++) {
#pragma omp ordered
      a += mid(i);
    }
  }
  return a + b;
}
int main(int argc, char **argv) {
  if (argc > 5)
    complain(argv[0], argc);
  return loops(argc) + tasks(argc) + cloned(argc, 7) + choose(argc);
}
