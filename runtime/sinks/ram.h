/*
 * The image that the RAM sink leaves in memory (docs/trace-format.md, "RAM image"): everything the host needs, found by its magic
 * number or by the symbol `instr_pool`.
 *
 *   +--------------+ 0
 *   | header       | struct instr_ram_image, 128 bytes
 *   +--------------+ text_offset[0]
 *   | metadata     | two areas: the older text stays valid while a newer one is written
 *   +--------------+ text_offset[1]
 *   | metadata     |
 *   +--------------+ windows_offset
 *   | window 0     | as a window file: header page, packets
 *   | window 1 …   |
 *   +--------------+ bytes
 */
#ifndef INSTR_RAM_H
#define INSTR_RAM_H

#include <stddef.h>
#include <stdint.h>

#define INSTR_RAM_MAGIC "INSTRRAM"
#define INSTR_RAM_VERSION 1u

struct instr_ram_image {
    char magic[8];           /* written last: who finds it finds a whole header */
    uint32_t version;        /* also gives the byte order */
    uint32_t header_bytes;
    uint64_t address;        /* where the image was */
    uint64_t bytes;          /* of the whole block */
    uint32_t text_offset[2];
    uint32_t text_bytes[2];  /* 0: there is no whole text */
    uint32_t text;           /* the newer one */
    uint32_t text_room;      /* bytes of each area */
    uint32_t windows_offset;
    uint32_t window_bytes;   /* of each; 0 before the first one */
    uint32_t windows;
    uint32_t lost_text;      /* bytes of metadata that found no room */
    char program[48];
};

_Static_assert(offsetof(struct instr_ram_image, text_offset) == 32, "layout");
_Static_assert(offsetof(struct instr_ram_image, program) == 72, "layout");
_Static_assert(sizeof(struct instr_ram_image) == 120, "layout");

#endif
