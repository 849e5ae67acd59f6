/* The kernels of examples/sparselu, of which bmod takes EXTRA per cent longer: a part of its work is done again on a block of its own. */
#define bmod bmod_once
#include "kernels.c"
#undef bmod

enum { LARGEST = 64 };

/* Work grows with the cube of a block's size; no compiler knows it. */
static int part_of(int size)
{
    /* With a number that is not 0, so that builds with and without EXTRA have the same layout. */
    static volatile struct {
        int extra, percent;
    } planted = {EXTRA, 100};
    int extra = planted.extra, percent = planted.percent;
    int part = 0;
    while (part < LARGEST && percent * part * part * part < extra * size * size * size)
        part++;
    return part;
}

void bmod(int size, const double *left, const double *above, double *inner)
{
    static _Thread_local double again[LARGEST * LARGEST];
    bmod_once(size, left, above, inner);
    bmod_once(part_of(size), left, above, again);
}
