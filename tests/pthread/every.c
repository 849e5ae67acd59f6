/*
 * Each function of POSIX threads that is recorded, as often as tests/tests/e2e/pthread.rs says, also where it refuses, ends late or never returns.
 * What each says is printed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive, check, robust;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER, slept = PTHREAD_MUTEX_INITIALIZER, forked = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER, never = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t sem, ready;
static int flag, given_back = -1;
static const struct timespec past = {1, 0}, wrong = {1, 2000000000};

#define SAY(call) printf("%d: " #call " %d\n", __LINE__, (call))
#define SAY_ERRNO(call) (errno = 0, printf("%d: " #call " %d", __LINE__, (call)), printf(" %d\n", errno))

static struct timespec later(int clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    at.tv_sec += 60;
    return at;
}

static void *busy(void *arg)
{
    SAY(pthread_mutex_trylock(&plain));
    SAY(pthread_mutex_trylock(&plain));
    SAY(pthread_mutex_timedlock(&plain, &past));
    SAY(pthread_mutex_timedlock(&plain, &wrong));
    SAY(pthread_mutex_clocklock(&plain, 99, &past));
    SAY(pthread_setname_np(pthread_self(), "busy one"));
    SAY(pthread_setname_np(pthread_self(), "much longer than names may be"));
    pthread_exit(arg);
}

static void *dies(void *arg)
{
    SAY(pthread_mutex_lock(&robust));
    return arg;
}

static void *signals(void *arg)
{
    pthread_mutex_lock(&guard);
    flag = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&guard);
    return arg;
}

static void gives_back(void *mutex)
{
    given_back = pthread_mutex_unlock(mutex);
}

static void *sleeps(void *arg)
{
    pthread_mutex_lock(&slept);
    pthread_cleanup_push(gives_back, &slept);
    sem_post(&ready);
    for (;;)
        pthread_cond_wait(&never, &slept);
    pthread_cleanup_pop(0);
    return arg;
}

static void *nothing(void *arg)
{
    return arg;
}

static void run_once(void)
{
    puts("once");
}

static void handler(int signal)
{
    (void)signal;
}

static pthread_t begin(void *(*function)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, &flag) != 0)
        puts("no thread");
    return thread;
}

static void end(pthread_t thread)
{
    void *result = NULL;
    SAY(pthread_join(thread, &result));
    printf("%s\n", result == &flag ? "returned" : result == PTHREAD_CANCELED ? "cancelled" : "?");
}

static void mutexes(void)
{
    struct timespec at = later(CLOCK_REALTIME), monotonic = later(CLOCK_MONOTONIC);
    pthread_mutexattr_t kind;
    for (int i = 0; i < 3; i++) {
        SAY(pthread_mutex_lock(&plain));
        SAY(pthread_mutex_unlock(&plain));
    }
    for (int i = 0; i < 2; i++) {
        SAY(pthread_mutex_trylock(&plain));
        SAY(pthread_mutex_unlock(&plain));
    }
    SAY(pthread_mutex_timedlock(&plain, &at));
    SAY(pthread_mutex_unlock(&plain));
    SAY(pthread_mutex_clocklock(&plain, CLOCK_MONOTONIC, &monotonic));
    end(begin(busy));
    SAY(pthread_mutex_unlock(&plain));
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &kind);
    for (int i = 0; i < 3; i++)
        SAY(pthread_mutex_lock(&recursive));
    for (int i = 0; i < 4; i++)
        SAY(pthread_mutex_unlock(&recursive));
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&check, &kind);
    SAY(pthread_mutex_lock(&check));
    SAY(pthread_mutex_lock(&check));
    SAY(pthread_mutex_unlock(&check));
    SAY(pthread_mutex_unlock(&check));
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &kind);
    end(begin(dies));
    SAY(pthread_mutex_lock(&robust));
    SAY(pthread_mutex_consistent(&robust));
    SAY(pthread_mutex_unlock(&robust));
    end(begin(dies));
    SAY(pthread_mutex_trylock(&robust));
    SAY(pthread_mutex_unlock(&robust));
    SAY(pthread_mutex_lock(&robust));
}

static void other_locks(void)
{
    struct timespec at = later(CLOCK_REALTIME), monotonic = later(CLOCK_MONOTONIC);
    SAY(pthread_rwlock_rdlock(&rw));
    SAY(pthread_rwlock_rdlock(&rw));
    SAY(pthread_rwlock_tryrdlock(&rw));
    SAY(pthread_rwlock_timedrdlock(&rw, &at));
    SAY(pthread_rwlock_clockrdlock(&rw, CLOCK_MONOTONIC, &monotonic));
    SAY(pthread_rwlock_trywrlock(&rw));
    for (int i = 0; i < 5; i++)
        SAY(pthread_rwlock_unlock(&rw));
    SAY(pthread_rwlock_wrlock(&rw));
    SAY(pthread_rwlock_wrlock(&rw));
    SAY(pthread_rwlock_unlock(&rw));
    SAY(pthread_rwlock_trywrlock(&rw));
    SAY(pthread_rwlock_unlock(&rw));
    SAY(pthread_rwlock_timedwrlock(&rw, &at));
    SAY(pthread_rwlock_unlock(&rw));
    SAY(pthread_rwlock_timedwrlock(&rw, &wrong));
    SAY(pthread_rwlock_clockwrlock(&rw, CLOCK_MONOTONIC, &monotonic));
    SAY(pthread_rwlock_unlock(&rw));
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    SAY(pthread_spin_lock(&spin));
    SAY(pthread_spin_trylock(&spin));
    SAY(pthread_spin_unlock(&spin));
    SAY(pthread_spin_lock(&spin));
    SAY(pthread_spin_unlock(&spin));
    SAY(pthread_spin_trylock(&spin));
    SAY(pthread_spin_unlock(&spin));
}

static void conditions(void)
{
    SAY(pthread_mutex_lock(&guard));
    SAY(pthread_cond_timedwait(&cond, &guard, &past));
    SAY(pthread_cond_clockwait(&cond, &guard, CLOCK_MONOTONIC, &past));
    pthread_t thread = begin(signals);
    while (!flag)
        SAY(pthread_cond_wait(&cond, &guard));
    SAY(pthread_mutex_unlock(&guard));
    end(thread);
    thread = begin(sleeps);
    sem_wait(&ready);
    pthread_mutex_lock(&slept); /* now it waits */
    pthread_mutex_unlock(&slept);
    SAY(pthread_cancel(thread));
    end(thread);
    SAY(given_back);
}

static void semaphores(void)
{
    struct timespec at = later(CLOCK_REALTIME), monotonic = later(CLOCK_MONOTONIC);
    struct itimerval soon = {{0, 20000}, {0, 20000}}, off = {{0, 0}, {0, 0}}; /* again and again: the first may come too early */
    sem_init(&sem, 0, 3);
    SAY_ERRNO(sem_wait(&sem));
    SAY_ERRNO(sem_timedwait(&sem, &at));
    SAY_ERRNO(sem_clockwait(&sem, CLOCK_MONOTONIC, &monotonic));
    SAY_ERRNO(sem_trywait(&sem));
    SAY_ERRNO(sem_timedwait(&sem, &past));
    SAY_ERRNO(sem_timedwait(&sem, &wrong));
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    SAY_ERRNO(sem_wait(&sem));
    setitimer(ITIMER_REAL, &off, NULL);
}

static void others(void)
{
    struct timespec at = later(CLOCK_REALTIME), monotonic = later(CLOCK_MONOTONIC);
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 1);
    SAY(pthread_barrier_wait(&barrier));
    SAY(pthread_barrier_wait(&barrier));
    for (int i = 0; i < 3; i++)
        SAY(pthread_once(&once, run_once));
    SAY(pthread_timedjoin_np(begin(nothing), NULL, &at));
    SAY(pthread_clockjoin_np(begin(nothing), NULL, CLOCK_MONOTONIC, &monotonic));
    SAY(pthread_join(pthread_self(), NULL));
    pthread_attr_init(&attributes);
    SAY(pthread_attr_setstacksize(&attributes, (size_t)1 << 46));
    SAY(pthread_create(&thread, &attributes, nothing, NULL));
    pthread_mutex_lock(&forked);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const int results = pthread_mutex_unlock(&forked) | pthread_mutex_lock(&forked);
        _exit(results == 0 ? 7 : 1);
    }
    pthread_mutex_unlock(&forked);
    int status;
    waitpid(child, &status, 0);
    printf("child %d\n", WEXITSTATUS(status));
}

int main(void)
{
    end(begin(nothing)); /* from here on existing programs are recorded */
    sem_init(&ready, 0, 0);
    mutexes();
    other_locks();
    conditions();
    semaphores();
    others();
    return 0;
}
