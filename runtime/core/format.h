/* The raw trace format (docs/trace-format.md) as constants: events and their kinds, packet layout. */
#ifndef INSTR_FORMAT_H
#define INSTR_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "core/events.h"

#define INSTR_NONE 0xffffffffu /* no task, no region */

/* In the number of a stream with the context switches of a thread, and in the number of that thread there. */
#define INSTR_SWITCHES_BIT 0x80000000u

#define INSTR_CTF_MAGIC 0xC1FC1FC1u
#define INSTR_WINDOW_MAGIC 0x1257111Du
#define INSTR_WINDOW_VERSION 3u
#define INSTR_WINDOW_HEADER_BYTES 4096u

/* Byte offsets inside a packet. */
enum {
    INSTR_PACKET_MAGIC = 0,
    INSTR_PACKET_UUID = 4,
    INSTR_PACKET_STREAM_ID = 20,
    INSTR_PACKET_BEGIN = 24,
    INSTR_PACKET_END = 32,
    INSTR_PACKET_CONTENT_BITS = 40,
    INSTR_PACKET_BITS = 48,
    INSTR_PACKET_SEQ = 56,
    INSTR_PACKET_DISCARDED = 64,
    INSTR_PACKET_THREAD = 72,
    INSTR_PACKET_OS_TID = 76,
    INSTR_PACKET_TASK_THREAD = 80,
    INSTR_PACKET_TASK_SEQ = 84,
    INSTR_PACKET_REGION_THREAD = 88,
    INSTR_PACKET_REGION_SEQ = 92,
    INSTR_PACKET_FLAGS = 96,
    INSTR_PACKET_TASKS_CREATED = 100,
    INSTR_PACKET_HEADER_BYTES = 104
};

#define INSTR_PACKET_FLAG_OVERWROTE 1u

/*
 * Header of an event: one word, 7 bits for the id and 25 for the clock. Where those do not tell the time, an extended one: in place of the id
 * INSTR_EXTENDED, and the id in the other bits; the whole clock follows.
 */
#define INSTR_ID_BITS 7u
#define INSTR_TIME_BITS 25u
#define INSTR_TIME_RANGE (UINT64_C(1) << INSTR_TIME_BITS)
#define INSTR_EXTENDED 127u
#define INSTR_HEADER_WORDS 1u
#define INSTR_EXTENDED_WORDS 3u

/* Words (32-bit) of an address and byte order of the target. */
#define INSTR_ADDR_WORDS (sizeof(void *) / 4u)
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define INSTR_BIG_ENDIAN 1
#elif defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define INSTR_BIG_ENDIAN 0
#else
#error "the compiler does not tell the byte order: define __BYTE_ORDER__ (gcc and clang do)"
#endif

/* A number of `size` bits in a word that it shares with others, behind `first` bits: CTF counts from the low end where the byte order is little. */
#define INSTR_BITS(value, first, size) ((uint32_t)(value) << (INSTR_BIG_ENDIAN ? 32u - (first) - (size) : (first)))

#endif
