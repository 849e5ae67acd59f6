/*
 * Functions as a loaded module sees them: in its own dynamic symbols and those of the libraries that it needs, read where they lie in memory.
 *
 * dlopen() with RTLD_NOLOAD and dlsym() would find the same, but cannot be called at every time: when the process ends and the destructors of a
 * module have begun, such a dlopen() runs its constructors once more (glibc).
 *
 * Sources: the System V ABI, chapter 5 (DT_HASH); the layout of DT_GNU_HASH as binutils writes it.
 */
#ifndef INSTR_LIBRARY_SCOPE_H
#define INSTR_LIBRARY_SCOPE_H

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The libraries that a module needs, and those that these need; what is beyond is not looked at. */
#define INSTR_SCOPE_MODULES 256u

struct instr_dynamic {
    const ElfW(Sym) *symbols;
    const char *names;
    const ElfW(Half) *versions; /* of each symbol; NULL: they have none */
    const uint32_t *hash;     /* DT_HASH: the numbers of buckets and chains, buckets, chains */
    const uint32_t *gnu_hash; /* DT_GNU_HASH: the numbers of buckets, first symbol, words and shift of the filter; filter, buckets, chain */
};

/* The tables of a module. Some loaders relocate the addresses in its dynamic section, others leave them as they were linked. */
static inline struct instr_dynamic instr_dynamic_of(const struct link_map *map)
{
    struct instr_dynamic found = {NULL, NULL, NULL, NULL, NULL};
    for (const ElfW(Dyn) *entry = map->l_ld; entry != NULL && entry->d_tag != DT_NULL; entry++) {
        const uintptr_t given = entry->d_un.d_ptr;
        const void *const at = (const void *)(given < map->l_addr ? given + map->l_addr : given);
        switch (entry->d_tag) {
        case DT_SYMTAB:
            found.symbols = at;
            break;
        case DT_STRTAB:
            found.names = at;
            break;
        case DT_VERSYM:
            found.versions = at;
            break;
        case DT_HASH:
            found.hash = at;
            break;
        case DT_GNU_HASH:
            found.gnu_hash = at;
            break;
        default:
            break;
        }
    }
    return found;
}

/* Whether a symbol is the name's definition, and not one of an older version that is kept for older programs. */
static inline bool instr_is_definition(const struct instr_dynamic *dynamic, uint32_t number, const char *name)
{
    const ElfW(Sym) *const symbol = &dynamic->symbols[number];
    if (symbol->st_shndx == SHN_UNDEF || strcmp(dynamic->names + symbol->st_name, name) != 0)
        return false;
    return dynamic->versions == NULL || (dynamic->versions[number] & 0x8000u) == 0;
}

static inline const ElfW(Sym) *instr_in_gnu_hash(const struct instr_dynamic *dynamic, const char *name)
{
    const uint32_t buckets = dynamic->gnu_hash[0];
    const uint32_t first = dynamic->gnu_hash[1];
    const uint32_t words = dynamic->gnu_hash[2]; /* of the size of an address */
    const uint32_t *const bucket = dynamic->gnu_hash + 4 + words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *const chain = bucket + buckets;
    uint32_t hash = 5381;
    if (buckets == 0)
        return NULL;
    for (const unsigned char *c = (const unsigned char *)name; *c != 0; c++)
        hash = hash * 33 + *c;
    uint32_t number = bucket[hash % buckets];
    if (number < first)
        return NULL;
    for (;; number++) {
        const uint32_t other = chain[number - first];
        if ((other | 1) == (hash | 1) && instr_is_definition(dynamic, number, name))
            return &dynamic->symbols[number];
        if ((other & 1) != 0) /* the last one of its bucket */
            return NULL;
    }
}

static inline const ElfW(Sym) *instr_in_hash(const struct instr_dynamic *dynamic, const char *name)
{
    const uint32_t buckets = dynamic->hash[0];
    const uint32_t *const bucket = dynamic->hash + 2;
    const uint32_t *const chain = bucket + buckets;
    uint32_t hash = 0;
    if (buckets == 0)
        return NULL;
    for (const unsigned char *c = (const unsigned char *)name; *c != 0; c++) {
        hash = (hash << 4) + *c;
        hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
    }
    for (uint32_t number = bucket[hash % buckets]; number != STN_UNDEF; number = chain[number])
        if (instr_is_definition(dynamic, number, name))
            return &dynamic->symbols[number];
    return NULL;
}

/* The module's own definition of a symbol, or NULL. */
static inline const ElfW(Sym) *instr_definition(const struct link_map *map, const char *name)
{
    const struct instr_dynamic dynamic = instr_dynamic_of(map);
    if (dynamic.symbols == NULL || dynamic.names == NULL)
        return NULL;
    if (dynamic.gnu_hash != NULL)
        return instr_in_gnu_hash(&dynamic, name);
    return dynamic.hash != NULL ? instr_in_hash(&dynamic, name) : NULL;
}

/* The address of a module's function. */
static inline void *instr_address_of(const struct link_map *map, const ElfW(Sym) *symbol)
{
    void *const at = (void *)(map->l_addr + symbol->st_value);
    if ((symbol->st_info & 0xf) != STT_GNU_IFUNC)
        return at;
    void *(*choose)(void);
    *(void **)&choose = at;
    return choose();
}

/* Whether a module goes by a name in another's list of needed libraries. */
static inline bool instr_is_named(const struct link_map *map, const char *needed)
{
    const struct instr_dynamic dynamic = instr_dynamic_of(map);
    for (const ElfW(Dyn) *entry = map->l_ld; entry != NULL && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_SONAME && dynamic.names != NULL)
            return strcmp(dynamic.names + entry->d_un.d_val, needed) == 0 || strcmp(map->l_name, needed) == 0;
    const char *const slash = strrchr(map->l_name, '/');
    return strcmp(slash != NULL ? slash + 1 : map->l_name, needed) == 0 || strcmp(map->l_name, needed) == 0;
}

struct instr_scope {
    const struct link_map *from;
    const struct link_map *except; /* the module whose definitions do not count */
    const char *name;
    const struct link_map *in; /* where it was found */
    const ElfW(Sym) *symbol;   /* NULL: nowhere */
};

/* Adds the libraries that the module needs, behind those that are there already. */
static inline unsigned instr_scope_needs(const struct link_map **modules, unsigned count, const struct link_map *of)
{
    const struct instr_dynamic dynamic = instr_dynamic_of(of);
    const struct link_map *first = of;
    while (first->l_prev != NULL)
        first = first->l_prev;
    for (const ElfW(Dyn) *entry = of->l_ld; entry != NULL && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag != DT_NEEDED || dynamic.names == NULL || count == INSTR_SCOPE_MODULES)
            continue;
        const struct link_map *needed = first;
        while (needed != NULL && !instr_is_named(needed, dynamic.names + entry->d_un.d_val))
            needed = needed->l_next;
        bool is_new = needed != NULL;
        for (unsigned i = 0; i < count && is_new; i++)
            is_new = modules[i] != needed;
        if (is_new)
            modules[count++] = needed;
    }
    return count;
}

/* Called for the first module alone, and with the loader's lock: no module comes or goes meanwhile. */
static inline int instr_scope_search(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    struct instr_scope *const scope = arg;
    const struct link_map *modules[INSTR_SCOPE_MODULES];
    unsigned count = 0;
    (void)info;
    (void)bytes;
    modules[count++] = scope->from;
    for (unsigned i = 0; i < count && scope->symbol == NULL; i++) {
        scope->in = modules[i];
        scope->symbol = scope->in != scope->except ? instr_definition(scope->in, scope->name) : NULL;
        count = instr_scope_needs(modules, count, modules[i]);
    }
    return 1;
}

/*
 * A function as the module `from` sees it: its own, else that of the libraries it needs, breadth first as the loader goes. NULL: there is none
 * but that of the module `except`.
 */
static inline void *instr_seen_from(const struct link_map *from, const struct link_map *except, const char *name)
{
    struct instr_scope scope = {.from = from, .except = except, .name = name};
    (void)dl_iterate_phdr(instr_scope_search, &scope);
    return scope.symbol != NULL ? instr_address_of(scope.in, scope.symbol) : NULL;
}

#endif
