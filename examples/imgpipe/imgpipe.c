/*
 * A stream of images through a pipeline: while frame n is processed, the next one waits in a second buffer and
 * the result of the one before is still to be delivered. Acquiring frame n + 1 and delivering frame n - 1 overlap.
 */
#include "phases.h"
#include "trace.h"

#include <errno.h>
#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { LARGEST_FRAMES = 100000, LARGEST_SIDE = 4096 };

struct pipeline {
    int frames;
    struct image incoming[2]; /* frame n is in incoming[n % 2] */
    struct image scratch[2];
    struct result pending; /* of the frame before */
    uint64_t checksum;     /* of all delivered frames */
    long bytes;
};

static struct image new_image(int width, int height)
{
    struct image image = {width, height, malloc((size_t)width * (size_t)height)};
    if (image.pixel == NULL) {
        fprintf(stderr, "imgpipe: error: cannot allocate an image of %d x %d: out of memory\n", width, height);
        exit(1);
    }
    return image;
}

static void deliver(struct pipeline *pipeline)
{
    pipeline->checksum = (pipeline->checksum ^ pipeline->pending.hash) * 0x100000001b3u + (uint64_t)pipeline->pending.threshold;
    pipeline->bytes += pipeline->pending.bytes;
}

/* Acquires frame `number` (if there is one) and delivers the frame two before it (if there is one). */
static void exchange(struct pipeline *pipeline, int number)
{
    instr_region_begin("exchange");
#pragma omp parallel sections
    {
#pragma omp section
        if (number < pipeline->frames)
            acquire(&pipeline->incoming[number % 2], number);
#pragma omp section
        if (number >= 2)
            deliver(pipeline);
    }
    instr_region_end();
}

static void process(struct pipeline *pipeline, int number)
{
    struct image *in = &pipeline->incoming[number % 2], *a = &pipeline->scratch[0], *b = &pipeline->scratch[1];
    long count[LEVELS];

    instr_event(EVENT_FRAME, (uint64_t)number + 1);
    instr_region_begin("filter");
    stretch(in, a);
    blur(a, b);
    sobel(b, a);
    instr_region_end();

    instr_region_begin("compress");
    histogram(a, count);
    pipeline->pending = encode(a, otsu_threshold(count));
    instr_region_end();
    instr_counter("threshold", pipeline->pending.threshold);
    instr_event(EVENT_FRAME, 0);
}

static int parse_number(const char *text, int largest)
{
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || number < 1 || number > largest) {
        fprintf(stderr, "imgpipe: error: '%s' is not a whole number from 1 to %d\nusage: imgpipe [FRAMES [WIDTH HEIGHT]]\n", text,
                largest);
        exit(2);
    }
    return (int)number;
}

int main(int argc, char **argv)
{
    if (argc == 3 || argc > 4) {
        fprintf(stderr, "imgpipe: error: %d arguments given\nusage: imgpipe [FRAMES [WIDTH HEIGHT]]\n", argc - 1);
        return 2;
    }
    int frames = argc > 1 ? parse_number(argv[1], LARGEST_FRAMES) : 24;
    int width = argc > 2 ? parse_number(argv[2], LARGEST_SIDE) : 640;
    int height = argc > 2 ? parse_number(argv[3], LARGEST_SIDE) : 480;

    struct pipeline pipeline = {.frames = frames};
    for (int i = 0; i < 2; i++) {
        pipeline.incoming[i] = new_image(width, height);
        pipeline.scratch[i] = new_image(width, height);
    }

    double begin = omp_get_wtime();
    exchange(&pipeline, 0);
    for (int number = 0; number < frames; number++) {
        exchange(&pipeline, number + 1);
        process(&pipeline, number);
    }
    exchange(&pipeline, frames + 1);
    double seconds = omp_get_wtime() - begin;

    printf("imgpipe: %d frames of %d x %d\nencoded: %ld bytes\nchecksum: %016" PRIx64 "\n", frames, width, height, pipeline.bytes,
           pipeline.checksum);
    fprintf(stderr, "time: %.6f s with up to %d threads\n", seconds, omp_get_max_threads());
    for (int i = 0; i < 2; i++) {
        free(pipeline.incoming[i].pixel);
        free(pipeline.scratch[i].pixel);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
