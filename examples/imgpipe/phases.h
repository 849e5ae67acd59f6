/* The phases an image goes through. All arithmetic is on integers: results do not depend on the number of threads. */
#ifndef IMGPIPE_PHASES_H
#define IMGPIPE_PHASES_H

#include <stddef.h>
#include <stdint.h>

enum { LEVELS = 256 };

struct image {
    int width;
    int height;
    uint8_t *pixel; /* row-major */
};

/* What the last phase knows about one frame. */
struct result {
    uint64_t hash; /* of the encoded rows, in order */
    long bytes;    /* length of the encoding */
    int threshold;
};

/* Sensor: draws frame `number` (moving discs over noise). Serial: it stands for a device. */
void acquire(struct image *image, int number);
/* Loop 1, static: stretches the contrast. */
void stretch(const struct image *in, struct image *out);
/* Loop 2, dynamic by 8 rows: 5 x 5 binomial blur. */
void blur(const struct image *in, struct image *out);
/* Loop 3, guided: gradient magnitude (Sobel). */
void sobel(const struct image *in, struct image *out);
/* Loop 4, dynamic by 4 rows: counts grey levels; threads add their counts in a named critical section. */
void histogram(const struct image *in, long count[LEVELS]);
/* Otsu's threshold of a histogram. Serial. */
int otsu_threshold(const long count[LEVELS]);
/* Loop 5, ordered: run-length encodes each row of the thresholded image; rows are appended in order. */
struct result encode(const struct image *in, int threshold);

#endif
