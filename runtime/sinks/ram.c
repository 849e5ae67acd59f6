/*
 * The RAM sink: threads record into windows inside one named block of memory, and there they stay. No byte is copied and no code
 * runs to get them out: the host dumps the block, after a clean end or after a crash.
 *
 * The core keeps every window as it is and gives none to a second thread.
 */
#include "core/cold.h"

#include "sinks/ram.h"

#include <stdatomic.h>
#include <string.h>

#include "core/config.h"
#include "core/thread.h"
#include "platform/platform.h"
#include "sinks/sink.h"

#define HEADER_BYTES 128u

static struct instr_ram_image *image;
static uint32_t used; /* bytes of the text being written */

static bool open_image(const char *wanted, const char *program)
{
    size_t bytes;
    char *pool = instr_platform_pool(&bytes);
    (void)wanted;
    if (pool == NULL || bytes < HEADER_BYTES + 2 * INSTR_CFG_RAM_TEXT_BYTES || bytes > UINT32_MAX)
        return false;
    struct instr_ram_image *i = (struct instr_ram_image *)(void *)pool;
    memset(i, 0, HEADER_BYTES);
    atomic_thread_fence(memory_order_release);
    i->version = INSTR_RAM_VERSION;
    i->header_bytes = HEADER_BYTES;
    i->address = (uintptr_t)pool;
    i->bytes = bytes;
    i->text_room = INSTR_CFG_RAM_TEXT_BYTES;
    i->text_offset[0] = HEADER_BYTES;
    i->text_offset[1] = HEADER_BYTES + INSTR_CFG_RAM_TEXT_BYTES;
    i->windows_offset = HEADER_BYTES + 2 * INSTR_CFG_RAM_TEXT_BYTES + INSTR_PRIVATE_BYTES;
    for (size_t at = 0; at < sizeof i->program - 1 && program[at] != '\0'; at++)
        i->program[at] = program[at];
    atomic_thread_fence(memory_order_release);
    memcpy(i->magic, INSTR_RAM_MAGIC, sizeof i->magic);
    image = i;
    return true;
}

static void *window(uint32_t number, size_t bytes)
{
    if (image == NULL)
        return NULL;
    bytes = (bytes + INSTR_PRIVATE_BYTES + 7u) & ~(size_t)7u; /* of the window, and in front of the next one */
    if (image->window_bytes == 0)
        image->window_bytes = (uint32_t)bytes;
    if (bytes != image->window_bytes || number >= (image->bytes - image->windows_offset) / bytes)
        return NULL;
    char *block = (char *)image + image->windows_offset + (size_t)number * bytes;
    memset(block - INSTR_PRIVATE_BYTES, 0, INSTR_PRIVATE_BYTES + INSTR_WINDOW_HEADER_BYTES); /* packets say what they hold */
    atomic_thread_fence(memory_order_release);
    if (image->windows <= number)
        image->windows = number + 1;
    return block;
}

static bool append(uint32_t thread, const void *bytes, size_t count)
{
    (void)thread;
    (void)bytes;
    (void)count;
    return true; /* it is there already */
}

static bool text_begin(void)
{
    if (image == NULL)
        return false;
    used = 0;
    image->text_bytes[1 - image->text] = 0;
    return true;
}

static void text(const char *bytes, size_t count)
{
    const uint32_t room = image->text_room - used;
    const uint32_t piece = count < room ? (uint32_t)count : room;
    memcpy((char *)image + image->text_offset[1 - image->text] + used, bytes, piece);
    used += piece;
    image->lost_text += (uint32_t)(count - piece);
}

static bool text_end(void)
{
    const uint32_t next = 1 - image->text;
    if (image->lost_text != 0)
        return false;
    image->text_bytes[next] = used;
    atomic_thread_fence(memory_order_release);
    image->text = next;
    return true;
}

const struct instr_sink instr_sink_ram = {
    .name = "ram",
    .keeps = true,
    .open = open_image,
    .window = window,
    .append = append,
    .text_begin = text_begin,
    .text = text,
    .text_end = text_end,
};
