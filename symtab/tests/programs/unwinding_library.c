/* The shared library of unwinding.c. */
long inside(long (*function)(long), long n);

long inside(long (*function)(long), long n)
{
    volatile long result = function(n);
    return result + 1;
}

long library_calls(long (*function)(long), long n);

/* Through the PLT: `inside` may be another library's. */
long library_calls(long (*function)(long), long n)
{
    volatile long result = inside(function, n + 1);
    return result * 2;
}
