/* Sensors that are files of /sys and /proc: opened once, read by pread. */
#ifndef INSTR_PLATFORM_LINUX_FILES_H
#define INSTR_PLATFORM_LINUX_FILES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sensors/sensors.h"

#define INSTR_FILE_PATH 256u
#define INSTR_FILE_TEXT 64u

/* What one thread at a time does, zeroed at first: nobody waits, a signal handler may ask. */
struct instr_turn {
    atomic_flag taken;
    volatile pid_t whose; /* the process that took it: a forked child has a copy that nobody gives back; 0: none */
};
bool instr_turn_take(struct instr_turn *turn);
void instr_turn_give(struct instr_turn *turn);

/* A sensor and the texts it needs. */
struct instr_file_sensor {
    struct instr_sensor sensor; /* first: a pointer to it is one to the whole */
    uint64_t device;            /* of the open file: the program may close descriptors it does not know, and open others */
    uint64_t inode;
    struct instr_turn opening; /* of opening it again */
    char name[INSTR_FILE_TEXT];
    char labels[INSTR_FILE_TEXT];
    char scale[INSTR_FILE_TEXT];
    char path[INSTR_FILE_PATH];
};

/* Room for another one, zeroed, its sensor's texts pointing into it; NULL when there is none. The caller gives it back by not keeping it:
 * only instr_file_keep() makes the next call return another. */
struct instr_file_sensor *instr_file_next(void);
void instr_file_keep(void);

/* Offers the sensor of instr_file_next() and keeps it when it is taken. `parse` is its read function. */
bool instr_file_offer(struct instr_file_sensor *f);

/* init and read of a file that holds one integer. */
const char *instr_file_open(struct instr_sensor *s);
int instr_file_read_integer(struct instr_sensor *s, int64_t *values);

/* The start of the sensor's file, zero-terminated, at most `bytes` - 1; else as instr_sensor.read. */
int instr_file_text(struct instr_file_sensor *f, char *text, size_t bytes);

/* Pieces of a path, as the two functions below take them. */
#define INSTR_PIECES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Joins INSTR_SENSORS_ROOT and the pieces, up to NULL; false when it does not fit. */
bool instr_file_path(char *path, size_t bytes, const char *const *pieces);

/* First line of a small file (root and pieces as above), blanks at the end removed; false when it cannot be read or is empty. */
bool instr_file_line(char *line, size_t bytes, const char *const *pieces);

/* Parses a decimal integer with an optional sign that ends at white space or the end of the text. */
bool instr_parse_integer(const char *text, int64_t *value);


/* A descriptor out of the way of those the program counts on. */
int instr_high_descriptor(int fd);

/* The names in a directory for which `number` gives one, in the order of these numbers; at most `most`. Returns how many. */
size_t instr_file_list(const char *path, bool (*number)(const char *name, uint64_t *number), uint64_t *numbers, size_t most);

#endif
