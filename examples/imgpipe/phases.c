#include "phases.h"

#include <stdlib.h>
#include <string.h>

static uint8_t *row_of(const struct image *image, int y)
{
    return image->pixel + (size_t)y * (size_t)image->width;
}

static int clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

static uint32_t mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

void acquire(struct image *image, int number)
{
    int radius = image->height / 6 + 1;
    for (int y = 0; y < image->height; y++) {
        uint8_t *row = row_of(image, y);
        for (int x = 0; x < image->width; x++) {
            int dx = x - (number * 13 + image->width / 3) % image->width;
            int dy = y - (number * 7 + image->height / 2) % image->height;
            int inside = dx * dx + dy * dy < radius * radius;
            uint32_t noise = mix((uint32_t)number * 0x9e3779b9u + (uint32_t)y * 65537u + (uint32_t)x);
            row[x] = (uint8_t)((inside ? 120 : 60) + (int)(noise & 31u));
        }
    }
}

void stretch(const struct image *in, struct image *out)
{
#pragma omp parallel for schedule(static)
    for (int y = 0; y < in->height; y++) {
        const uint8_t *from = row_of(in, y);
        uint8_t *to = row_of(out, y);
        for (int x = 0; x < in->width; x++)
            to[x] = (uint8_t)clamp((from[x] - 50) * 255 / 110, 0, 255);
    }
}

void blur(const struct image *in, struct image *out)
{
    static const int weight[5] = {1, 4, 6, 4, 1};
#pragma omp parallel for schedule(dynamic, 8)
    for (int y = 0; y < in->height; y++) {
        for (int x = 0; x < in->width; x++) {
            int sum = 0;
            for (int j = -2; j <= 2; j++) {
                const uint8_t *from = row_of(in, clamp(y + j, 0, in->height - 1));
                for (int i = -2; i <= 2; i++)
                    sum += weight[j + 2] * weight[i + 2] * from[clamp(x + i, 0, in->width - 1)];
            }
            row_of(out, y)[x] = (uint8_t)(sum / 256);
        }
    }
}

static int gradient(const uint8_t *above, const uint8_t *here, const uint8_t *below, int left, int x, int right)
{
    int horizontal = above[right] + 2 * here[right] + below[right] - above[left] - 2 * here[left] - below[left];
    int vertical = below[left] + 2 * below[x] + below[right] - above[left] - 2 * above[x] - above[right];
    return abs(horizontal) + abs(vertical);
}

void sobel(const struct image *in, struct image *out)
{
#pragma omp parallel for schedule(guided)
    for (int y = 0; y < in->height; y++) {
        const uint8_t *above = row_of(in, clamp(y - 1, 0, in->height - 1));
        const uint8_t *below = row_of(in, clamp(y + 1, 0, in->height - 1));
        for (int x = 0; x < in->width; x++) {
            int left = clamp(x - 1, 0, in->width - 1), right = clamp(x + 1, 0, in->width - 1);
            row_of(out, y)[x] = (uint8_t)clamp(gradient(above, row_of(in, y), below, left, x, right), 0, 255);
        }
    }
}

void histogram(const struct image *in, long count[LEVELS])
{
    memset(count, 0, LEVELS * sizeof count[0]);
#pragma omp parallel
    {
        long mine[LEVELS] = {0};
#pragma omp for schedule(dynamic, 4) nowait
        for (int y = 0; y < in->height; y++)
            for (int x = 0; x < in->width; x++)
                mine[row_of(in, y)[x]]++;
#pragma omp critical(shared_histogram)
        for (int level = 0; level < LEVELS; level++)
            count[level] += mine[level];
    }
}

int otsu_threshold(const long count[LEVELS])
{
    int64_t total = 0, weighted = 0;
    for (int level = 0; level < LEVELS; level++) {
        total += count[level];
        weighted += (int64_t)level * count[level];
    }
    int64_t below = 0, below_weighted = 0, best = -1;
    int threshold = 0;
    for (int level = 0; level < LEVELS - 1; level++) {
        below += count[level];
        below_weighted += (int64_t)level * count[level];
        if (below == 0 || below == total)
            continue;
        int64_t distance = (weighted - below_weighted) / (total - below) - below_weighted / below;
        int64_t between = distance * distance * (below * (total - below) / total);
        if (between > best) {
            best = between;
            threshold = level;
        }
    }
    return threshold;
}

/* Run lengths of one row, alternately dark and bright, each 1 to 255 (0 continues a longer run). */
static int encode_row(const uint8_t *row, int width, int threshold, uint8_t *code)
{
    int length = 0, run = 0, bright = 0;
    for (int x = 0; x < width; x++) {
        int now = row[x] > threshold;
        if (now != bright || run == 255) {
            code[length++] = (uint8_t)run;
            if (now == bright)
                code[length++] = 0;
            bright = now;
            run = 0;
        }
        run++;
    }
    code[length++] = (uint8_t)run;
    return length;
}

static void append(struct result *result, const uint8_t *code, int length)
{
    for (int i = 0; i < length; i++)
        result->hash = (result->hash ^ code[i]) * 0x100000001b3u;
    result->bytes += length;
}

struct result encode(const struct image *in, int threshold)
{
    struct result result = {0xcbf29ce484222325u, 0, threshold};
#pragma omp parallel
    {
        uint8_t code[2 * 4096 + 2]; /* main() keeps the width within 4096 */
#pragma omp for ordered schedule(dynamic, 4)
        for (int y = 0; y < in->height; y++) {
            int length = encode_row(row_of(in, y), in->width, threshold, code);
#pragma omp ordered
            append(&result, code, length);
        }
    }
    return result;
}
