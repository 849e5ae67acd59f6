/* A sensor's file that is replaced while several threads read it: one of them opens it again, and no descriptor is closed that is not the sensor's. */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/settings.h"
#include "platform/linux/files.h"

enum { THREADS = 4, ROUNDS = 200, CLOSED = 20 };

static volatile int foreign_closes; /* of a descriptor that nobody has open */
static volatile bool slow;
static struct instr_file_sensor file = {.sensor = {.name = "unit/replaced", .values = 1, .init = instr_file_open, .read = instr_file_read_integer}};
static char next_path[INSTR_FILE_PATH + 8];
static pthread_barrier_t round_begins;
static pthread_barrier_t round_ends;

/* Takes the place of the C library's: whoever decided to close waits until others had the time to decide the same. */
int close(int fd)
{
    if (slow)
        usleep(2000);
    const int result = (int)syscall(SYS_close, fd);
    if (result != 0 && errno == EBADF)
        foreign_closes = 1;
    return result;
}

/* Whoever asked whether the file is the same waits, so that all come to the same answer. */
int fstat(int fd, struct stat *status)
{
    const int result = fstatat(fd, "", status, AT_EMPTY_PATH);
    if (slow)
        usleep(500);
    return result;
}

static void write_number(const char *path, int number)
{
    char text[16];
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int count = snprintf(text, sizeof text, "%d\n", number);
    CHECK(fd >= 0 && write(fd, text, (size_t)count) == count);
    (void)syscall(SYS_close, fd);
}

static void replace(int number)
{
    write_number(next_path, number);
    CHECK(rename(next_path, file.path) == 0);
}

/* Ours have high numbers. */
static int open_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < file.sensor.handle + 64; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void *reader(void *unused)
{
    (void)unused;
    for (int round = 0; round < ROUNDS + CLOSED; round++) {
        int64_t value = -1;
        pthread_barrier_wait(&round_begins);
        const int error = file.sensor.read(&file.sensor, &value);
        CHECK(error < 0 || (error == 0 && (value == round || value == round - 1 || round >= ROUNDS)));
        pthread_barrier_wait(&round_ends);
    }
    return NULL;
}

int main(void)
{
    static char folder[] = "/tmp/instr-replaced-XXXXXX";
    pthread_t threads[THREADS];
    int64_t value = -1;
    CHECK(mkdtemp(folder) != NULL);
    snprintf(file.path, sizeof file.path, "%s/value", folder);
    snprintf(next_path, sizeof next_path, "%s.new", file.path);
    write_number(file.path, -1);
    CHECK(instr_file_open(&file.sensor) == NULL);
    pthread_barrier_init(&round_begins, NULL, THREADS + 1);
    pthread_barrier_init(&round_ends, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, reader, NULL) == 0);
    const int before = open_descriptors();
    slow = true;
    for (int round = 0; round < ROUNDS; round++) {
        replace(round);
        pthread_barrier_wait(&round_begins);
        pthread_barrier_wait(&round_ends);
        CHECK(file.sensor.read(&file.sensor, &value) == 0 && value == round); /* whoever was first has opened it */
    }
    CHECK(foreign_closes == 0);
    CHECK(open_descriptors() == before);
    /* The program takes the descriptor for something else: one new one each time, not one for each thread. */
    for (int round = 0; round < CLOSED; round++) {
        CHECK(dup3(STDERR_FILENO, file.sensor.handle, O_CLOEXEC) >= 0);
        pthread_barrier_wait(&round_begins);
        pthread_barrier_wait(&round_ends);
        CHECK(file.sensor.read(&file.sensor, &value) == 0 && value == ROUNDS - 1);
        CHECK(open_descriptors() == before + round + 1);
    }
    slow = false;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);

    /* The program closed the descriptor, and opened something else that has its number now. */
    const int taken = file.sensor.handle;
    (void)syscall(SYS_close, taken);
    CHECK(dup2(STDERR_FILENO, taken) == taken);
    CHECK(file.sensor.read(&file.sensor, &value) == 0 && value == ROUNDS - 1 && file.sensor.handle != taken);
    CHECK(fcntl(taken, F_GETFD) >= 0);

    /* Gone for good. */
    CHECK(unlink(file.path) == 0);
    CHECK(file.sensor.read(&file.sensor, &value) == ENOENT);
    CHECK(rmdir(folder) == 0);
    return failures != 0;
}
