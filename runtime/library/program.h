/*
 * The runtime of the program itself, if it has one: the table of probes by the note in its headers (library/table.c). For objects that look for a
 * runtime when they are loaded.
 */
#ifndef INSTR_LIBRARY_PROGRAM_H
#define INSTR_LIBRARY_PROGRAM_H

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#include "library/table.h"

/* The table that a segment of notes leads to, or NULL. */
static inline const struct instr_table *instr_table_of_notes(const char *note, size_t bytes)
{
    while (bytes >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *const header = (const ElfW(Nhdr) *)(const void *)note;
        const size_t name = ((size_t)header->n_namesz + 3) & ~(size_t)3;
        const size_t desc = ((size_t)header->n_descsz + 3) & ~(size_t)3;
        const char *const text = note + sizeof *header;
        if (name > bytes || desc > bytes || sizeof *header + name + desc > bytes)
            break;
        if (header->n_type == INSTR_NOTE_TABLE && header->n_namesz == sizeof INSTR_NOTE_NAME && header->n_descsz == 4 &&
            memcmp(text, INSTR_NOTE_NAME, sizeof INSTR_NOTE_NAME) == 0) {
            int32_t distance;
            memcpy(&distance, text + name, sizeof distance);
            return (const struct instr_table *)(const void *)(text + name + distance);
        }
        note += sizeof *header + name + desc;
        bytes -= sizeof *header + name + desc;
    }
    return NULL;
}

/* The program's, by the headers that the kernel told: they are there whatever the dynamic linker lets a library see. */
static inline const struct instr_table *instr_table_of_program(void)
{
    const ElfW(Phdr) *const segments = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    const size_t count = getauxval(AT_PHNUM);
    ElfW(Addr) bias = 0;
    for (size_t i = 0; segments != NULL && i < count; i++)
        if (segments[i].p_type == PT_PHDR)
            bias = (ElfW(Addr))segments - segments[i].p_vaddr;
    const struct instr_table *found = NULL;
    for (size_t i = 0; segments != NULL && i < count && found == NULL; i++)
        if (segments[i].p_type == PT_NOTE)
            found = instr_table_of_notes((const char *)(bias + segments[i].p_vaddr), segments[i].p_memsz);
    return found;
}

#endif
