/* Linux with glibc: bounds and use of stacks, state of the heap. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "core/cold.h"

#include "platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* End of the mapping that holds `address`, from /proc/self/maps ("BEGIN-END …", a line each); 0: not found. */
static uintptr_t mapping_end(uintptr_t address)
{
    char text[512];
    uintptr_t numbers[2] = {0, 0};
    unsigned at = 0; /* 0 and 1: in a number, 2: in the rest of the line */
    uintptr_t found = 0;
    ssize_t count;
    const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    while (found == 0 && (count = read(fd, text, sizeof text)) > 0) {
        for (ssize_t i = 0; i < count && found == 0; i++) {
            const char c = text[i];
            if (c == '\n') {
                at = 0;
                numbers[0] = numbers[1] = 0;
            } else if (at < 2 && ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
                numbers[at] = numbers[at] << 4 | (uintptr_t)(c <= '9' ? c - '0' : c - 'a' + 10);
            } else if (at < 2) {
                at++;
                if (at == 2 && address >= numbers[0] && address < numbers[1])
                    found = numbers[1];
            }
        }
    }
    close(fd);
    return found;
}

/* Of the initial thread, where the C library does not know (some emulators): as far as the limit allows. */
static bool initial_bounds(uintptr_t *low, uintptr_t *high)
{
    struct rlimit limit;
    if (!instr_platform_is_initial_thread() || getrlimit(RLIMIT_STACK, &limit) != 0)
        return false;
    const uintptr_t most = UINT32_C(1) << 30;
    const uintptr_t bytes = limit.rlim_cur < most ? (uintptr_t)limit.rlim_cur : most;
    *high = mapping_end((uintptr_t)__builtin_frame_address(0));
    *low = *high > bytes ? *high - bytes : (uintptr_t)getpagesize();
    return *high != 0;
}

bool instr_platform_stack_bounds(uintptr_t *low, uintptr_t *high)
{
    pthread_attr_t attributes;
    void *base = NULL;
    size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return initial_bounds(low, high);
    const bool known = pthread_attr_getstack(&attributes, &base, &bytes) == 0;
    (void)pthread_attr_destroy(&attributes);
    *low = (uintptr_t)base;
    *high = (uintptr_t)base + bytes;
    return known && bytes != 0 && *high > *low;
}

#define VECTOR 512u      /* pages asked about at a time */
#define LEAST_PAGE 4096u /* an emulator may have smaller pages than its guest believes, and tells about these */
#define PIECE 1024u      /* bytes moved at a time: the runtime's own need of stack stays small */
#define WORDS (PIECE / sizeof(uintptr_t))

static volatile bool refused; /* by emulators and strict containers: then memory is taken to stay where it was a moment ago */

/* Whether a word can be read, as futex(2) sees it: it compares the word, and waits for no time. */
static bool is_readable(uintptr_t at)
{
    const struct timespec none = {0, 0};
    return syscall(SYS_futex, at & ~(uintptr_t)3, FUTEX_WAIT_PRIVATE, 0, &none, NULL, 0) == 0 || errno != EFAULT;
}

/*
 * Copies between this process's memory and a buffer, by the system: another thread's stack may be unmapped at any moment, and checkers of
 * memory take what lies below a stack pointer for a mistake.
 */
static bool move(bool out, uintptr_t at, void *buffer, size_t bytes)
{
#ifdef SYS_process_vm_readv
    if (!refused) {
        const struct iovec local = {buffer, bytes};
        const struct iovec remote = {(void *)at, bytes};
        const long number = out ? SYS_process_vm_writev : SYS_process_vm_readv;
        const long count = syscall(number, (long)getpid(), &local, 1ul, &remote, 1ul, 0ul);
        if (count == (long)bytes)
            return true;
        unsigned char resident;
        if (count >= 0 || errno == EFAULT) /* not there, or protected: a guard page of the program's */
            return false;
        if (mincore((void *)(at & ~((uintptr_t)getpagesize() - 1)), 1, &resident) != 0)
            return false;
        refused = true;
    }
#endif
    if (!is_readable(at) || !is_readable(at + bytes - 1))
        return false;
    if (out)
        memcpy((void *)at, buffer, bytes);
    else
        memcpy(buffer, (const void *)at, bytes);
    return true;
}

bool instr_platform_stack_word(uintptr_t address, uintptr_t *word)
{
    return move(false, address, word, sizeof *word);
}

/* Lowest address of [low, high), at most a page, that does not hold `word`; 0: none, UINTPTR_MAX: it cannot be read. */
static uintptr_t first_other(uintptr_t low, uintptr_t high, uintptr_t word)
{
    uintptr_t words[WORDS];
    for (uintptr_t at = low; at < high; at += PIECE) {
        const size_t bytes = high - at < PIECE ? high - at : PIECE;
        if (!move(false, at, words, bytes))
            return UINTPTR_MAX;
        for (size_t i = 0; i < bytes / sizeof words[0]; i++)
            if (words[i] != word)
                return at + i * sizeof words[0];
    }
    return 0;
}

/* The initial thread's stack grows page by page. Programs protect the lowest pages of others (a JVM does). */
uintptr_t instr_platform_stack_mapped(uintptr_t low, uintptr_t high)
{
    unsigned char resident[VECTOR];
    const uintptr_t page = (uintptr_t)getpagesize();
    const uintptr_t first = low & ~(page - 1);
    uintptr_t at = (high + page - 1) & ~(page - 1);
    for (size_t pages = VECTOR * LEAST_PAGE / page; pages != 0; pages /= 2)
        while (at - first >= pages * page && mincore((void *)(at - pages * page), pages * page, resident) == 0)
            at -= pages * page;
    if (at < low)
        at = low;
    for (uintptr_t word; at < high && !move(false, at, &word, sizeof word);)
        at = (at & ~(page - 1)) + page;
    return at >= high ? 0 : at;
}

uintptr_t instr_platform_stack_touched(uintptr_t low, uintptr_t high, uintptr_t word)
{
    const uintptr_t page = (uintptr_t)getpagesize();
    unsigned char resident[VECTOR];
    while (low < high) {
        const uintptr_t from = low & ~(page - 1);
        const uintptr_t left = (high - from + page - 1) / page;
        const size_t most = VECTOR * LEAST_PAGE / page;
        const size_t pages = left < most ? (size_t)left : most;
        if (mincore((void *)from, pages * page, resident) != 0)
            return 0;
        for (size_t i = 0; i < pages && low < high; i++) {
            const uintptr_t end = from + (i + 1) * page < high ? from + (i + 1) * page : high;
            /* what is not in memory is as the system gave it (or was moved out to a disk, and is missed) */
            const bool in_use = word != 0 || page != LEAST_PAGE || (resident[i] & 1) != 0;
            const uintptr_t found = in_use ? first_other(low, end, word) : 0;
            if (found != 0)
                return found != UINTPTR_MAX ? found : 0;
            low = end;
        }
    }
    return UINTPTR_MAX;
}

/* The painting function's other variables and what it calls need less stack than this, red zone and all. */
#define GAP 1024u

void instr_platform_stack_paint(uintptr_t low, uintptr_t word)
{
    uintptr_t words[WORDS];
    const uintptr_t high = ((uintptr_t)words - GAP) & ~(sizeof high - 1);
    for (size_t i = 0; i < WORDS; i++)
        words[i] = word;
    for (uintptr_t at = low; at < high; at += PIECE)
        if (!move(true, at, words, high - at < PIECE ? high - at : PIECE))
            break;
}

/* Before glibc 2.33 there is `mallinfo` only, whose counters are 32 bits wide: then the heap's state is not told. */
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
extern struct mallinfo2 mallinfo2(void) __attribute__((weak)); /* a program built for it may meet an older library */
#define HAS_MALLINFO2 1
#endif

bool instr_platform_heap(struct instr_heap *heap)
{
#ifdef HAS_MALLINFO2
    if (mallinfo2 != NULL) {
        const struct mallinfo2 info = mallinfo2();
        *heap = (struct instr_heap){info.arena + info.hblkhd, info.uordblks + info.hblkhd, info.fordblks, info.hblkhd};
        return true;
    }
#endif
    (void)heap;
    return false;
}
