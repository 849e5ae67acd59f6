// A tool of a user's own, which says that it starts and ends.
#include <stdint.h>
#include <stdio.h>

typedef struct {
    int (*initialize)(void (*(*lookup)(const char *))(void), int device, void *data);
    void (*finalize)(void *data);
    uint64_t data;
} start_tool_result;

static int initialize(void (*(*lookup)(const char *))(void), int device, void *data)
{
    (void)lookup;
    (void)device;
    (void)data;
    printf("the tool starts\n");
    return 1;
}

static void finalize(void *data)
{
    (void)data;
    printf("the tool ends\n");
}

start_tool_result *ompt_start_tool(unsigned version, const char *name)
{
    static start_tool_result result = {initialize, finalize, 0};
    (void)version;
    (void)name;
    return &result;
}
