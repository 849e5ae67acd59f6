/* What the probes of threads ask of the C library. Older ones have some of it in a library of its own, which a program may be linked without. */
#define _GNU_SOURCE

#include "core/cold.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "core/text.h"
#include "instr/kinds.h"
#include "platform/platform.h"

#pragma weak pthread_mutex_trylock
#pragma weak pthread_rwlock_tryrdlock
#pragma weak pthread_rwlock_trywrlock
#pragma weak pthread_spin_trylock
#pragma weak pthread_testcancel
#pragma weak sem_trywait

#define COMM_BYTES 16u /* of the kernel */
#define HAS_RUN 2      /* what glibc and musl leave in a pthread_once_t */

/*
 * glibc's pthread_mutex_trylock leaves a robust mutex taken that cannot be recovered, and answers that it is not: whoever comes later waits for ever. Those
 * that inherit priorities or have a ceiling are the kernel's matter too. All have a bit of these.
 */
#define KERNEL_KINDS 0x70
#ifdef __GLIBC__
#define CEILING 0x40         /* its word has the ceiling; the other kinds' have their holder, as futex(2) wants it */
#define HOLDER 0x3fffffffu   /* FUTEX_TID_MASK */

/* Whether another thread holds a mutex that cannot be tried. Its own holder does not wait for it. */
static bool is_held(const pthread_mutex_t *mutex, int kind)
{
    const int *const word = (kind & CEILING) != 0 ? &mutex->__data.__owner : &mutex->__data.__lock;
    const uint32_t holder = (uint32_t)__atomic_load_n(word, __ATOMIC_RELAXED) & HOLDER;
    return holder != 0 && holder != instr_platform_tid();
}
#endif

static int try_mutex(void *lock)
{
#ifdef __GLIBC__
    const pthread_mutex_t *const mutex = lock;
    const int kind = __atomic_load_n(&mutex->__data.__kind, __ATOMIC_RELAXED);
    if ((kind & KERNEL_KINDS) != 0)
        return is_held(mutex, kind) ? EBUSY : INSTR_NO_TRY;
#endif
    return pthread_mutex_trylock != NULL ? pthread_mutex_trylock(lock) : INSTR_NO_TRY;
}

int instr_platform_lock_try(unsigned kind, void *lock)
{
    switch (kind) {
    case INSTR_MUTEX_PTHREAD:
        return try_mutex(lock);
    case INSTR_MUTEX_READ:
        return pthread_rwlock_tryrdlock != NULL ? pthread_rwlock_tryrdlock(lock) : INSTR_NO_TRY;
    case INSTR_MUTEX_WRITE:
        return pthread_rwlock_trywrlock != NULL ? pthread_rwlock_trywrlock(lock) : INSTR_NO_TRY;
    default:
        return pthread_spin_trylock != NULL ? pthread_spin_trylock(lock) : INSTR_NO_TRY;
    }
}

bool instr_platform_semaphore_try(void *semaphore)
{
    const int error = errno;
    const bool got = sem_trywait != NULL && sem_trywait(semaphore) == 0;
    errno = error;
    return got;
}

void instr_platform_test_cancel(void)
{
    if (pthread_testcancel != NULL)
        pthread_testcancel();
}

bool instr_platform_is_time(int clock, const void *time)
{
    const struct timespec *const t = time;
    return (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) && t != NULL && t->tv_nsec >= 0 && t->tv_nsec < 1000000000;
}

bool instr_platform_has_run(const void *control)
{
    return __atomic_load_n((const int *)control, __ATOMIC_ACQUIRE) == HAS_RUN;
}

uintptr_t instr_platform_self(void)
{
    return (uintptr_t)pthread_self();
}

void instr_platform_name_of(uint32_t os_tid, char *name, size_t bytes)
{
    char text[COMM_BYTES] = "";
    name[0] = '\0';
    if (os_tid == 0) {
        if (prctl(PR_GET_NAME, text) != 0)
            return;
    } else {
        char path[64] = "/proc/self/task/";
        char digits[INSTR_DECIMAL_BYTES];
        (void)instr_text_append(path, sizeof path, instr_decimal(os_tid, 1, digits));
        (void)instr_text_append(path, sizeof path, "/comm");
        const bool had_turn = instr_platform_turn_begin();
        const int fd = open(path, O_RDONLY | O_CLOEXEC);
        const ssize_t count = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
        if (fd >= 0)
            close(fd);
        instr_platform_turn_end(had_turn);
        text[count > 0 ? count : 0] = '\0';
    }
    text[sizeof text - 1] = '\0';
    text[strcspn(text, "\n")] = '\0';
    (void)instr_text_append(name, bytes, text);
}
