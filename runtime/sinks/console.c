/*
 * The console sink: packets and metadata as lines of text among whatever else is printed. instr extract finds them again.
 *
 *   ~instr1:SSSSSSSSKIIIIIIIITTTTTTTTOOOOOOOOLLbase64…CCCCCCCC;
 *
 * S number of the line, K kind (O program's name, M metadata, P packet, E end), I thread, T bytes of the whole record, O offset of this
 * line's bytes, L their count, C CRC-32 (IEEE 802.3) of everything from the first S to the last character of base64; all numbers
 * hexadecimal. A line stands for itself: when one is lost, the others are still understood. What all others depend on comes in copies.
 */
#include "core/cold.h"

#include <stdatomic.h>
#include <string.h>

#include "arch/arch.h"
#include "core/config.h"
#include "platform/platform.h"
#include "sinks/sink.h"

#define LINE_BYTES 120u /* of payload; a multiple of 3, so that only the last line of a record has padding */
#define HEAD "~instr1:"
#define HEAD_CHARS (sizeof HEAD - 1)
#define FIELD_CHARS 35u
#define LINE_CHARS (HEAD_CHARS + FIELD_CHARS + LINE_BYTES / 3 * 4 + 8 + 2)

#define END_COPIES 3u

static uint32_t next_line;

/* The metadata comes in small pieces, and its length is known at its end: its lines have T = 0, and a line of no bytes with
 * T = O = the length and I = the CRC-32 of all of it closes it. */
static struct {
    uint32_t done; /* bytes sent */
    uint32_t used; /* bytes waiting */
    uint32_t crc;
    char bytes[LINE_BYTES];
} meta;

/* CRC-32 of what gave `before` and of what follows it; 0: of nothing. */
static uint32_t crc32(uint32_t before, const char *bytes, size_t count)
{
    static const uint32_t NIBBLE[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                        0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    uint32_t crc = ~before;
    for (size_t i = 0; i < count; i++) {
        crc = crc >> 4 ^ NIBBLE[(crc ^ (unsigned char)bytes[i]) & 15u];
        crc = crc >> 4 ^ NIBBLE[(crc ^ (unsigned char)bytes[i] >> 4) & 15u];
    }
    return ~crc;
}

static char *hex(char *to, uint32_t value, unsigned digits)
{
    while (digits-- > 0)
        *to++ = "0123456789abcdef"[value >> 4 * digits & 15u];
    return to;
}

static char *base64(char *to, const unsigned char *bytes, uint32_t count)
{
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (uint32_t i = 0; i < count; i += 3) {
        const uint32_t left = count - i;
        const uint32_t group =
            (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) | (left > 2 ? bytes[i + 2] : 0);
        *to++ = DIGITS[group >> 18];
        *to++ = DIGITS[group >> 12 & 63u];
        *to++ = left > 1 ? DIGITS[group >> 6 & 63u] : '=';
        *to++ = left > 2 ? DIGITS[group & 63u] : '=';
    }
    return to;
}

static void put_line(char kind, uint32_t id, uint32_t total, uint32_t offset, const char *bytes, uint32_t count)
{
    char line[LINE_CHARS];
    memcpy(line, HEAD, HEAD_CHARS);
    char *const begin = line + HEAD_CHARS;
    char *p = hex(begin, next_line++, 8);
    *p++ = kind;
    p = hex(hex(hex(hex(p, id, 8), total, 8), offset, 8), count, 2);
    p = base64(p, (const unsigned char *)bytes, count);
    p = hex(p, crc32(0, begin, (size_t)(p - begin)), 8);
    *p++ = ';';
    *p++ = '\n';
    instr_platform_console(line, (size_t)(p - line));
}

/* One record at a time. */
#if INSTR_PLATFORM_SMALL
static void take(void)
{
    instr_platform_lock(INSTR_LOCK_CONSOLE);
}

static void give(void)
{
    instr_platform_unlock(INSTR_LOCK_CONSOLE);
}
#else
static atomic_flag busy = ATOMIC_FLAG_INIT;

static void take(void)
{
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
        if (!instr_platform_wait()) /* the system is dying: whoever printed will not go on */
            break;
}

static void give(void)
{
    atomic_flag_clear_explicit(&busy, memory_order_release);
}
#endif

static bool put_record(char kind, uint32_t id, const char *bytes, size_t count)
{
    if (count > 0xffffffffu - LINE_BYTES)
        return false;
    take();
    for (size_t at = 0; at < count; at += LINE_BYTES)
        put_line(kind, id, (uint32_t)count, (uint32_t)at, bytes + at, count - at < LINE_BYTES ? (uint32_t)(count - at) : LINE_BYTES);
    give();
    return true;
}

static bool open_console(const char *wanted, const char *program)
{
    (void)wanted;
    next_line = 0;
    return put_record('O', 0, program, strlen(program));
}

static bool append(uint32_t thread, const void *bytes, size_t count)
{
    return put_record('P', thread, bytes, count);
}

static bool text_begin(void)
{
    take();
    meta.done = 0;
    meta.used = 0;
    meta.crc = 0;
    return true;
}

static void drain(void)
{
    if (meta.used != 0)
        put_line('M', 0, 0, meta.done, meta.bytes, meta.used);
    meta.crc = crc32(meta.crc, meta.bytes, meta.used);
    meta.done += meta.used;
    meta.used = 0;
}

static void text(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        meta.bytes[meta.used++] = bytes[i];
        if (meta.used == LINE_BYTES)
            drain();
    }
}

static bool text_end(void)
{
    drain();
    put_line('M', meta.crc, meta.done, meta.done, meta.bytes, 0);
    give();
    return true;
}

/* How many events there should be, 16 hexadecimal digits, and by the number of the line how many lines. */
static void end(uint64_t events)
{
    char digits[16];
    (void)hex(hex(digits, (uint32_t)(events >> 32), 8), (uint32_t)events, 8);
    take();
    for (uint32_t copy = 0; copy < END_COPIES; copy++)
        put_line('E', 0, END_COPIES, copy, digits, sizeof digits);
    give();
}

const struct instr_sink instr_sink_console = {
    .name = "console",
    .line = true,
    .open = open_console,
    .append = append,
    .text_begin = text_begin,
    .text = text,
    .text_end = text_end,
    .end = end,
};
