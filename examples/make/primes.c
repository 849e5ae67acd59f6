/* Counts primes below a limit; chunks of a dynamic loop take longer and longer. */
#include <stdio.h>
#include <stdlib.h>

static int is_prime(int number)
{
    for (int divisor = 2; divisor <= number / divisor; divisor++)
        if (number % divisor == 0)
            return 0;
    return number >= 2;
}

int main(void)
{
    int limit = 1000000, count = 0;
#pragma omp parallel for schedule(dynamic, 10000) reduction(+ : count)
    for (int number = 0; number < limit; number++)
        count += is_prime(number);
    printf("%d primes below %d\n", count, limit);
    return count == 78498 ? EXIT_SUCCESS : EXIT_FAILURE;
}
