/* Configuration of the examples on RTEMS (scripts/rtems.sh): main() on the POSIX init thread, with arguments, and its status to exit(). */
#include <rtems.h>
#include <stdlib.h>

#include <instr/rtems.h>

int main(int argc, char **argv);
void *POSIX_Init(void *argument);

/* libgomp reads the environment before main: its workers need more than the smallest stack. */
__attribute__((constructor(101))) static void environment(void)
{
    setenv("OMP_NUM_THREADS", "4", 0);
    setenv("OMP_STACKSIZE", "64K", 0);
}

void *POSIX_Init(void *argument)
{
    static char name[] = "example";
    static char blocks[] = "8";
    static char size[] = "8";
    static char *arguments[] = {name, blocks, size, NULL};
    (void)argument;
    exit(main(3, arguments));
}

#define CONFIGURE_APPLICATION_NEEDS_CLOCK_DRIVER
#define CONFIGURE_APPLICATION_NEEDS_CONSOLE_DRIVER
#define CONFIGURE_MAXIMUM_PROCESSORS 4
#define CONFIGURE_UNIFIED_WORK_AREAS
#define CONFIGURE_UNLIMITED_OBJECTS
#define CONFIGURE_MAXIMUM_USER_EXTENSIONS 2
#define CONFIGURE_INITIAL_EXTENSIONS INSTR_RTEMS_EXTENSION
#define CONFIGURE_MAXIMUM_FILE_DESCRIPTORS 8
#define CONFIGURE_POSIX_INIT_THREAD_TABLE
#define CONFIGURE_POSIX_INIT_THREAD_STACK_SIZE (64 * 1024)
#define CONFIGURE_INIT
#include <rtems/confdefs.h>
