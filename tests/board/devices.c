/*
 * Devices of the board: a plug&play table, the statistics unit and the temperature sensor, as registers that do what those do. Every value
 * that is read is written to the report.
 *
 *   BOARD_GATED=1   the statistics unit has no clock
 *   BOARD_BARE=1    neither device is there
 */
#define _GNU_SOURCE
#include "board.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include <grlib/ambapp.h>

#define L4STAT_ADDRESS 0x7ff4000u
#define THS_ADDRESS 0x7ff6000u
#define COUNTERS 16u
#define MAX_READS 100000u

uint32_t board_read(uintptr_t address);
void board_write(uintptr_t address, uint32_t value);

struct ambapp_bus {
    struct ambapp_dev *first;
};

static struct ambapp_apb_info ths_apb = {.start = THS_ADDRESS, .mask = 0xfff00};
static struct ambapp_apb_info l4stat_apb = {.start = L4STAT_ADDRESS, .mask = 0xfff00};
static struct ambapp_apb_info uart_apb = {.start = 0x7ff0000u, .mask = 0xfff00};
static struct ambapp_dev ths = {.dev_type = 3, .vendor = 0x01, .device = 0x099, .devinfo = &ths_apb};
static struct ambapp_dev l4stat = {.next = &ths, .dev_type = 3, .vendor = 0x01, .device = 0x047, .devinfo = &l4stat_apb};
static struct ambapp_dev foreign = {.next = &l4stat, .dev_type = 3, .vendor = 0x04, .device = 0x047, .devinfo = &uart_apb};
static struct ambapp_dev uart = {.next = &foreign, .dev_type = 3, .vendor = 0x01, .device = 0x00c, .devinfo = &uart_apb};
static struct ambapp_bus bus = {.first = &uart};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t value[COUNTERS];
static uint32_t control[COUNTERS];
static uint32_t latch[COUNTERS];
static uint32_t ths_control = 124u << 16 | 3u << 2; /* divider and correction, as a boot loader leaves them */
static uint32_t now_raw;
static uint32_t min_raw = 0x7f;
static uint32_t max_raw;
static bool updated;

static struct {
    uint32_t address;
    uint32_t value;
    rtems_id thread; /* 0: none, the clock */
    bool interrupt;  /* in place of the thread */
} reads[MAX_READS];
static uint32_t read_count;

struct ambapp_bus *ambapp_plb(void)
{
    return getenv("BOARD_BARE") == NULL ? &bus : NULL;
}

int ambapp_find_by_idx(struct ambapp_dev *dev, int index, void *pcount)
{
    (void)index;
    (void)pcount;
    return (int)(uintptr_t)dev;
}

int ambapp_for_each(struct ambapp_bus *abus, unsigned int options, int vendor, int device, ambapp_func_t func, void *arg)
{
    int index = 0;
    for (struct ambapp_dev *d = abus->first; d != NULL; d = d->next) {
        if ((options & OPTIONS_APB_SLVS) == 0 || d->vendor != vendor || d->device != device)
            continue;
        const int found = func(d, index++, arg);
        if (found != 0)
            return found;
    }
    return 0;
}

/* A counter with its event and processor goes on by a number that tells both. */
static uint32_t rate(uint32_t word)
{
    return 0x01000000u + (word >> 4 & 0xffu) * 1000u + (word & 0xfu);
}

void board_devices_tick(uint64_t tick)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < COUNTERS; i++)
        if (control[i] & 0x1000u)
            value[i] += rate(control[i]); /* wraps every 256 ticks */
    if ((ths_control & 3u) == 3u && tick % 3 == 0) {
        now_raw = 40 + (uint32_t)(tick * 7 % 50);
        min_raw = now_raw < min_raw ? now_raw : min_raw;
        max_raw = now_raw > max_raw ? now_raw : max_raw;
        updated = true;
    }
    pthread_mutex_unlock(&lock);
}

static uint32_t read_register(uint32_t address)
{
    if (address >= L4STAT_ADDRESS && address < L4STAT_ADDRESS + 0x180) {
        const uint32_t i = (address & 0x7fu) / 4;
        if (i >= COUNTERS)
            return 0;
        if ((address & 0x180u) == 0x80)
            return 3u << 28 | (COUNTERS - 1u) << 23 | control[i];
        if ((address & 0x180u) == 0x100)
            return latch[i];
        const uint32_t found = value[i];
        latch[i] = found;
        if (control[i] & 0x2000u)
            value[i] = 0;
        return found;
    }
    if (address == THS_ADDRESS)
        return ths_control;
    if (address == THS_ADDRESS + 4) {
        const uint32_t status = max_raw << 24 | (max_raw != 0 ? min_raw : 0) << 16 | (updated ? 0x200u : 0) | (now_raw > 80 ? 0x100u : 0) | now_raw;
        updated = false;
        return status;
    }
    return 0xdeadbeefu;
}

uint32_t board_read(uintptr_t address)
{
    if (!board_in_interrupt)
        board_interrupts_block(true);
    pthread_mutex_lock(&lock);
    const uint32_t found = read_register((uint32_t)address);
    if (read_count < MAX_READS) {
        reads[read_count].address = (uint32_t)address;
        reads[read_count].thread = board_thread_id();
        reads[read_count].interrupt = board_in_interrupt;
        reads[read_count++].value = found;
    }
    pthread_mutex_unlock(&lock);
    if (!board_in_interrupt)
        board_interrupts_block(false);
    return found;
}

void board_write(uintptr_t address, uint32_t word)
{
    pthread_mutex_lock(&lock);
    const uint32_t offset = (uint32_t)address - L4STAT_ADDRESS;
    if (offset < 4 * COUNTERS)
        value[offset / 4] = word;
    else if (offset >= 0x80 && offset < 0x80 + 4 * COUNTERS && getenv("BOARD_GATED") == NULL)
        control[(offset - 0x80) / 4] = word & 0x3ffffu;
    else if (address == THS_ADDRESS)
        ths_control = word & 0x3ff01ffu;
    pthread_mutex_unlock(&lock);
}

void board_devices_report(FILE *to)
{
    for (uint32_t i = 0; i < read_count; i++) {
        const uint32_t offset = reads[i].address - L4STAT_ADDRESS;
        const char *mark = reads[i].interrupt ? "!" : "";
        if (offset < 4 * COUNTERS)
            fprintf(to, "l4stat %u%s %u %u\n", (unsigned)reads[i].thread, mark, (unsigned)(offset / 4), (unsigned)reads[i].value);
        else if (reads[i].address == THS_ADDRESS + 4)
            fprintf(to, "ths %u%s %u\n", (unsigned)reads[i].thread, mark, (unsigned)reads[i].value);
    }
    for (uint32_t i = 0; i < COUNTERS; i++)
        fprintf(to, "control %u %#x\n", (unsigned)i, (unsigned)control[i]);
    fprintf(to, "ths-control %#x\n", (unsigned)ths_control);
}
