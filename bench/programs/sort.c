/*
 * Merge sort: a task for each half, and two for each merge, down to a cut-off.
 *
 *   sort ELEMENTS CUTOFF
 */
#include "program.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { INSERTION = 16 };

static void sort_plain(uint32_t *data, long count)
{
    while (count > INSERTION) {
        uint32_t a = data[0], b = data[count / 2], c = data[count - 1];
        uint32_t pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
        long low = 0, high = count - 1;
        while (low <= high) {
            while (data[low] < pivot)
                low++;
            while (data[high] > pivot)
                high--;
            if (low <= high) {
                uint32_t swapped = data[low];
                data[low++] = data[high];
                data[high--] = swapped;
            }
        }
        sort_plain(data + low, count - low);
        count = high + 1;
    }
    for (long i = 1; i < count; i++) {
        uint32_t value = data[i];
        long place = i;
        for (; place > 0 && data[place - 1] > value; place--)
            data[place] = data[place - 1];
        data[place] = value;
    }
}

/* Two sorted runs. */
struct runs {
    const uint32_t *first, *second;
    long firsts, seconds;
};

static void merge_plain(struct runs runs, uint32_t *out)
{
    while (runs.firsts > 0 && runs.seconds > 0) {
        bool first = *runs.first <= *runs.second;
        *out++ = first ? *runs.first++ : *runs.second++;
        runs.firsts -= first;
        runs.seconds -= !first;
    }
    memcpy(out, runs.first, (size_t)runs.firsts * sizeof *out);
    memcpy(out + runs.firsts, runs.second, (size_t)runs.seconds * sizeof *out);
}

/* How many of the `count` least elements are of the first run. */
static long firsts_among(struct runs runs, long count)
{
    long low = count > runs.seconds ? count - runs.seconds : 0;
    long high = count < runs.firsts ? count : runs.firsts;
    while (low < high) {
        long middle = low + (high - low) / 2;
        if (runs.first[middle] < runs.second[count - middle - 1])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void merge(struct runs runs, uint32_t *out, long cutoff)
{
    long count = runs.firsts + runs.seconds;
    if (count <= cutoff) {
        merge_plain(runs, out);
        return;
    }
    long half = count / 2, firsts = firsts_among(runs, half), seconds = half - firsts;
    struct runs low = {runs.first, runs.second, firsts, seconds};
    struct runs high = {runs.first + firsts, runs.second + seconds, runs.firsts - firsts, runs.seconds - seconds};
#pragma omp task firstprivate(low, out, cutoff)
    merge(low, out, cutoff);
#pragma omp task firstprivate(high, out, half, cutoff)
    merge(high, out + half, cutoff);
#pragma omp taskwait
}

/* Sorts `data`; the result is in `other` when `away`. */
static void sort(uint32_t *data, uint32_t *other, long count, bool away, long cutoff)
{
    if (count <= cutoff) {
        sort_plain(data, count);
        if (away)
            memcpy(other, data, (size_t)count * sizeof *data);
        return;
    }
    long half = count / 2;
#pragma omp task firstprivate(data, other, half, away, cutoff)
    sort(data, other, half, !away, cutoff);
#pragma omp task firstprivate(data, other, half, count, away, cutoff)
    sort(data + half, other + half, count - half, !away, cutoff);
#pragma omp taskwait
    const uint32_t *from = away ? data : other;
    merge((struct runs){from, from + half, half, count - half}, away ? other : data, cutoff);
}

static long count_merge_tasks(long count, long cutoff)
{
    if (count <= cutoff)
        return 0;
    long half = count / 2;
    return 2 + count_merge_tasks(half, cutoff) + count_merge_tasks(count - half, cutoff);
}

static long count_tasks(long count, long cutoff)
{
    if (count <= cutoff)
        return 0;
    long half = count / 2;
    return 2 + count_tasks(half, cutoff) + count_tasks(count - half, cutoff) + count_merge_tasks(count, cutoff);
}

/* Two sums that do not depend on the order. */
struct sums {
    uint64_t values, squares;
};

static struct sums add_up(const uint32_t *data, long count)
{
    struct sums sums = {0, 0};
    for (long i = 0; i < count; i++) {
        sums.values += data[i];
        sums.squares += (uint64_t)data[i] * data[i];
    }
    return sums;
}

static bool is_sorted(const uint32_t *data, long count)
{
    for (long i = 1; i < count; i++)
        if (data[i - 1] > data[i])
            return false;
    return true;
}

int main(int argc, char **argv)
{
    long count = argument(argc, argv, 1, "the number of elements", 1, 1L << 30);
    long cutoff = argument(argc, argv, 2, "the cut-off", 2, 1L << 30);
    uint32_t *data = malloc((size_t)count * sizeof *data), *other = calloc((size_t)count, sizeof *other);
    if (data == NULL || other == NULL) {
        fprintf(stderr, "%s: error: cannot allocate %ld elements: out of memory\n", argv[0], count);
        return 1;
    }
    uint64_t state = 88172645463325252u;
    for (long i = 0; i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        data[i] = (uint32_t)(state >> 33);
    }
    struct sums before = add_up(data, count);
    memset(other, 1, (size_t)count * sizeof *other); /* no page faults in the timed part */

    double begin = now();
#pragma omp parallel
#pragma omp single
    sort(data, other, count, false, cutoff);
    double seconds = now() - begin;

    struct sums after = add_up(data, count);
    bool right = is_sorted(data, count) && before.values == after.values && before.squares == after.squares;
    int status = report(argv[0], seconds, count_tasks(count, cutoff), right);
    free(data);
    free(other);
    return status;
}
