/* Does what is hard on who launches it. `hard WHAT [NUMBER or FILE]`; what it prints does not depend on the moment. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static char *self;

static void wait_ms(long ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static void *nothing(void *arg)
{
    return arg;
}

/* Becomes itself so often, every second time after a thread, through another name. */
static int chain(int left)
{
    char text[16];
    snprintf(text, sizeof text, "%d", left - 1);
    char *args[] = {self, "chain", text, NULL};
    if (left == 0) {
        puts("end of the chain");
        return 7;
    }
    if (left % 2 == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, nothing, NULL) == 0)
            pthread_join(thread, NULL);
        execv("/proc/self/exe", args);
    }
    execv(self, args);
    return 1;
}

static void *becomes(void *arg)
{
    char *args[] = {self, "chain", "0", NULL};
    execv(self, args);
    return arg;
}

/* How many of `count` children of a kind end with 5. */
static int children(int count, pid_t (*start)(void))
{
    int good = 0, status;
    for (int i = 0; i < count; i++) {
        if (start() < 0)
            break;
        while (i % 16 == 15 && waitpid(-1, &status, 0) > 0)
            good += WIFEXITED(status) && WEXITSTATUS(status) == 5;
    }
    while (waitpid(-1, &status, 0) > 0)
        good += WIFEXITED(status) && WEXITSTATUS(status) == 5;
    printf("%d\n", good);
    return 0;
}

static pid_t by_spawn(void)
{
    char *args[] = {self, "leaf", NULL};
    pid_t pid;
    return posix_spawn(&pid, self, NULL, NULL, args, environ) == 0 ? pid : -1;
}

static pid_t by_vfork(void)
{
    const pid_t pid = vfork();
    if (pid == 0) {
        execl(self, self, "leaf", (char *)NULL);
        _exit(1);
    }
    return pid;
}

/* Past the C library, which knows nothing of the child. */
static pid_t by_clone(void)
{
    const long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        syscall(SYS_exit_group, 5);
    return (pid_t)pid;
}

static int tree(int depth)
{
    int status, count = 0;
    for (int i = 0; depth > 0 && i < 2; i++)
        if (fork() == 0)
            _exit(tree(depth - 1));
    while (wait(&status) > 0)
        count += WEXITSTATUS(status) + 1;
    return count;
}

static void become_daemon(const char *file)
{
    if (fork() != 0)
        _exit(4);
    setsid();
    if (fork() != 0)
        _exit(0);
    for (int i = 0; i < 1024; i++)
        close(i);
    wait_ms(300);
    const int to = open(file, O_CREAT | O_WRONLY, 0600);
    _exit(write(to, "done\n", 5) != 5);
}

/* Ends the process at calls that only somebody else could make for it. */
static int filter(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    const struct sock_fprog program = {.len = sizeof rules / sizeof *rules, .filter = rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return 9;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, nothing, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    puts("filtered");
    return 0;
}

/* What a program gets from who starts it. */
static int state(void)
{
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    for (int i = 1; i <= 64; i++) {
        struct sigaction action;
        if (sigaction(i, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
            printf("signal %d is %s\n", i, action.sa_handler == SIG_IGN ? "ignored" : "handled");
        if (sigismember(&blocked, i) == 1)
            printf("signal %d is blocked\n", i);
    }
    for (int i = 0; i < 256; i++)
        if (fcntl(i, F_GETFD) != -1)
            printf("descriptor %d\n", i);
    for (int i = 0; i < 16; i++) {
        struct rlimit limit;
        getrlimit((enum __rlimit_resource)i, &limit);
        printf("limit %d: %lld %lld\n", i, (long long)limit.rlim_cur, (long long)limit.rlim_max);
    }
    cpu_set_t processors;
    sched_getaffinity(0, sizeof processors, &processors);
    printf("%d processors, nice %d, umask %o, dumpable %d\n", CPU_COUNT(&processors), getpriority(PRIO_PROCESS, 0), umask(0), prctl(PR_GET_DUMPABLE));
    return 0;
}

/* Stops itself; a child lets it go on. */
static int stop(void)
{
    if (fork() == 0) {
        wait_ms(200);
        kill(getppid(), SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
    puts("goes on");
    wait(NULL);
    return 3;
}

static int orphans(void)
{
    for (int i = 0; i < 20; i++)
        if (fork() == 0) {
            wait_ms(100);
            _exit(0);
        }
    return 2;
}

/* Allows itself so many descriptors, and makes a thread. */
static int few(int most)
{
    const struct rlimit limit = {(rlim_t)most, (rlim_t)most};
    pthread_t thread;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || pthread_create(&thread, NULL, nothing, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    puts("has few");
    return 6;
}

/* The same in a child, after the trace has begun. */
static int few_in_child(int most)
{
    pthread_t thread;
    int status = 0;
    if (pthread_create(&thread, NULL, nothing, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    const pid_t child = fork();
    if (child == 0)
        exit(few(most));
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    const char *const what = argc > 1 ? argv[1] : "";
    const int number = argc > 2 ? atoi(argv[2]) : 0;
    const char *const names[] = {"chain", "thread-exec", "leaf",   "spawn", "vfork",   "clone",  "tree",  "daemon",
                                 "filter", "strict",     "state", "signal", "stop", "orphans", "sleep", "setsid",
                                 "few", "few-in-child", "goes"};
    unsigned chosen = 0;
    while (chosen < sizeof names / sizeof *names && strcmp(what, names[chosen]) != 0)
        chosen++;
    self = realpath(argv[0], NULL);
    if (self == NULL)
        self = argv[0];
    pthread_t thread;
    switch (chosen) {
    case 0:
        return chain(number);
    case 1:
        pthread_create(&thread, NULL, becomes, NULL);
        pause();
        return 1;
    case 2:
        return 5;
    case 3:
        return children(number, by_spawn);
    case 4:
        return children(number, by_vfork);
    case 5:
        return children(number, by_clone);
    case 6:
        printf("%d\n", tree(number));
        return 0;
    case 7:
        become_daemon(argv[2]);
        return 1;
    case 8:
        return filter();
    case 9:
        puts("strict");
        fflush(stdout);
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
        syscall(SYS_exit, 6);
        return 1;
    case 10:
        return state();
    case 11:
        raise(number);
        return 0;
    case 12:
        return stop();
    case 13:
        return orphans();
    case 14:
        wait_ms(number * 1000L);
        return 0;
    case 15:
        printf("%d\n", setsid() > 0 || errno == EPERM);
        return 0;
    case 16:
        return few(number);
    case 17:
        return few_in_child(number);
    case 18: /* to another folder, before the first thread */
        return chdir(argc > 2 ? argv[2] : "/") != 0 || pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0;
    default:
        return 99;
    }
}
